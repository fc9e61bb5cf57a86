"use strict";
// Finds marks and arrows by their position on the canvas.
(function (parts) {
  const { where, segment, STUB } = parts.layout;

  const NOTHING = { mark: -1, arrow: -1, message: -1, others: [] }; // a target that is none

  function shown(scene, kind) {
    return kind === "control" ? scene.show.controls : kind in parts.shapes.SHAPES;
  }

  // The mark nearest to a point, and others at the same position; empty if none is close.
  function nearestMarks(scene, x, y, reach) {
    const { model, view } = scene;
    const { at, rows } = view.index();
    const near = [];
    const lines = new Set([view.line(y - reach), view.line(y), view.line(y + reach)]);
    const { shown: processes } = view.rows;
    for (const row of [...lines].filter((line) => line in processes).map((line) => processes[line])) {
      const first = parts.model.firstFrom(rows[row], at, view.position(x - reach));
      const end = parts.model.firstFrom(rows[row], at, view.position(x + reach));
      for (const mark of rows[row].subarray(first, end)) {
        const point = where(scene, mark);
        const far = Math.hypot(point.x - x, point.y - y);
        if (far < reach && shown(scene, model.kindOf(mark))) {
          near.push({ mark, far, ...point });
        }
      }
    }
    near.sort((a, b) => a.far - b.far);
    const isThere = ({ x, y }) => Math.hypot(x - near[0].x, y - near[0].y) < 0.5;
    return near.filter(isThere).map(({ mark }) => mark);
  }

  function distance(x, y, [x1, y1, x2, y2]) {
    const [dx, dy] = [x2 - x1, y2 - y1];
    const along = ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1);
    const t = Math.min(1, Math.max(0, along));
    return Math.hypot(x - x1 - t * dx, y - y1 - t * dy);
  }

  function nearestArrow(scene, x, y, reach) {
    const { model, view } = scene;
    let [best, least] = [-1, reach];
    const [low, high] = [view.position(x - reach - STUB), view.position(x + reach)];
    view.index().arrows.spans.touching(low, high, (arrow) => {
      if (model.arrows.kind[arrow] === 2 && !scene.show.controls) {
        return;
      }
      const line = segment(scene, arrow);
      const far = line ? distance(x, y, line) : Infinity;
      if (far < least) {
        [best, least] = [arrow, far];
      }
    });
    return best;
  }

  // The target at a point: { mark, arrow, message, others }, with -1 for none; or null. If marks overlap,
  // it is the one after that of the message `known`; `others` are the messages of the other marks.
  function under(scene, x, y, reach, known) {
    const { model, view } = scene;
    if (x < view.gutter || y > view.bottom()) {
      return null;
    }
    const marks = nearestMarks(scene, x, y, reach);
    if (marks.length) {
      const about = marks.map((mark) => model.message[mark]);
      const next = (about.lastIndexOf(known) + 1) % marks.length;
      const others = [...new Set(about)].filter((message) => message >= 0 && message !== about[next]);
      return { mark: marks[next], arrow: -1, message: about[next], others };
    }
    const arrow = nearestArrow(scene, x, y, reach * 0.6);
    return arrow < 0 ? null : { mark: -1, arrow, message: model.arrows.message[arrow], others: [] };
  }

  parts.find = { under, NOTHING };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
