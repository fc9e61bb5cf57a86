"use strict";
// What lies under the pointer, and what is called by a name.
(function (parts) {
  const { where, segment, STUB } = parts.place;

  function shown(scene, kind) {
    return kind === "control" ? scene.show.controls : kind in parts.shapes.SHAPES;
  }

  // The mark that is nearest to a place, and the others that lie where it does; nothing if none is near.
  function nearestMarks(scene, x, y, reach) {
    const { model, view } = scene;
    const { at, rows } = view.index();
    const near = [];
    const lines = new Set([view.process(y - reach), view.process(y), view.process(y + reach)]);
    for (const row of [...lines].filter((each) => each >= 0 && each < rows.length)) {
      const first = parts.model.firstFrom(rows[row], at, view.position(x - reach));
      const end = parts.model.firstFrom(rows[row], at, view.position(x + reach));
      for (const mark of rows[row].subarray(first, end)) {
        const place = where(scene, mark);
        const far = Math.hypot(place.x - x, place.y - y);
        if (far < reach && shown(scene, model.kindOf(mark))) {
          near.push({ mark, far, ...place });
        }
      }
    }
    near.sort((a, b) => a.far - b.far);
    const isThere = ({ x, y }) => Math.hypot(x - near[0].x, y - near[0].y) < 0.5;
    return near.filter(isThere).map((each) => each.mark);
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
    view.index().arrows.found.touching(low, high, (arrow) => {
      if (model.arrows.kind[arrow] === 2 && !scene.show.controls) {
        return;
      }
      const far = distance(x, y, segment(scene, arrow));
      if (far < least) {
        [best, least] = [arrow, far];
      }
    });
    return best;
  }

  // What is meant by a place: { mark, arrow, message, others }, -1 for what is not; or null. Of marks
  // that lie on each other the one after `known` is meant, a message; `others` are the others' messages.
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

  // A process, by its whole name or by its label; -1 if there is none.
  function process(model, name) {
    const whole = model.processes.indexOf(name);
    return whole >= 0 ? whole : model.labels.indexOf(name);
  }

  // What somebody typed: { message } for "alice#3", { process } for "alice", or null.
  function named(model, typed) {
    const text = typed.trim();
    const row = process(model, text);
    if (row >= 0) {
      return { process: row };
    }
    const cut = text.lastIndexOf("#");
    const sender = cut < 0 ? -1 : process(model, text.slice(0, cut).trim());
    const mid = text.slice(cut + 1).trim();
    const { messages } = model;
    const isMeant = (each, i) => String(each) === mid && messages.sender[i] === sender;
    const message = messages.mid.findIndex(isMeant);
    return sender < 0 || message < 0 ? null : { message };
  }

  parts.find = { under, named };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
