"use strict";
// Positions of marks and arrows on the canvas, and which of them are visible.
//
// A scene is the input of a drawing: { model, view, colours, show: { bars, controls, labels }, classes, matches }.
// The class of a message is 0 other, 1 past, 2 future, 3 selected; `classes` is null if none is selected.
// `matches` has a 1 for each mark that the search has found, or is null.
(function (parts) {
  const NEAR = 24; // pixels outside the canvas within which something may still be visible
  const OUTSIDE = 1000; // pixels that lines may extend outside the canvas
  const STUB = 16; // length of an arrow without an end
  const AT_ONCE = 200; // lines or shapes per path: in longer paths, each of them takes more time

  function classOf(scene, message) {
    return scene.classes && message >= 0 ? scene.classes[message] : 0;
  }

  function aside(scene, mark) {
    const kind = scene.model.kindOf(mark);
    return kind === "send" ? -scene.view.aside() : kind === "deliver" ? scene.view.aside() : 0;
  }

  // The position of a mark on the canvas.
  function where(scene, mark) {
    const { model, view } = scene;
    return { x: view.x(view.index().at[mark]), y: view.y(model.process[mark]) + aside(scene, mark) };
  }

  // Whether the line of a mark is shown.
  function isShown(scene, mark) {
    const { rows } = scene.view;
    return !rows.hidden.size || rows.has(scene.model.process[mark]);
  }

  // A short way up or down, towards another process.
  function towards(scene, mark, other) {
    const { model, view } = scene;
    const down = other < 0 ? 0 : Math.sign(view.rows.place[other] - view.rows.place[model.process[mark]]);
    return down * Math.min(18, view.row() * 0.3);
  }

  // An arrow as [x1, y1, x2, y2]; one without an end, or whose other end is hidden, is a stub. It is null
  // if both ends are hidden.
  function segment(scene, arrow) {
    const { model } = scene;
    const [start, end] = [model.arrows.start[arrow], model.arrows.end[arrow]];
    if (!isShown(scene, start)) {
      if (end < 0 || !isShown(scene, end)) {
        return null;
      }
      const to = where(scene, end);
      return [to.x - STUB, to.y + towards(scene, end, model.process[start]), to.x, to.y];
    }
    const from = where(scene, start);
    if (end >= 0 && isShown(scene, end)) {
      const to = where(scene, end);
      return [from.x, from.y, to.x, to.y];
    }
    const peer = end < 0 ? model.marks.peer[start] : model.process[end];
    return [from.x, from.y, from.x + STUB, from.y + towards(scene, start, peer)];
  }

  // The end of an arrow whose process is hidden: "start", "end" or "".
  function hiddenEnd(scene, arrow) {
    if (!scene.view.rows.hidden.size) {
      return "";
    }
    const [start, end] = [scene.model.arrows.start[arrow], scene.model.arrows.end[arrow]];
    return !isShown(scene, start) ? "start" : end >= 0 && !isShown(scene, end) ? "end" : "";
  }

  // Clips lines far outside: canvases use floats, which are imprecise for large numbers.
  function clipped(scene, line) {
    let [x1, y1, x2, y2] = line;
    const [left, right] = [-OUTSIDE, scene.view.width + OUTSIDE];
    const slope = (y2 - y1) / (x2 - x1 || 1);
    const near = (x) => Math.min(Math.max(x, left), right);
    const at = (x) => y1 + (x - x1) * slope;
    [y1, y2] = [at(near(x1)), near(x2) === x2 ? y2 : at(near(x2))];
    return [near(x1), y1, near(x2), y2];
  }

  function range(scene, margin = NEAR) {
    const { view } = scene;
    return [view.position(view.gutter - margin), view.position(view.width + margin)];
  }

  // The range of visible marks among the marks of a process.
  function seenOf(scene, process) {
    const { at, rows } = scene.view.index();
    const [low, high] = range(scene);
    const first = parts.model.firstFrom(rows[process], at, low);
    return [first, parts.model.firstFrom(rows[process], at, high)];
  }

  // The processes whose lines are visible, from top to bottom.
  function seenRows(scene) {
    const { view } = scene;
    const first = Math.max(0, view.line(-view.row() / 2));
    return view.rows.shown.slice(first, view.line(view.bottom() + view.row() / 2) + 1);
  }

  // Draws items of the same style, many per path.
  function inPaths(ctx, items, add, finish) {
    for (let i = 0; i < items.length; i += AT_ONCE) {
      ctx.beginPath();
      for (let j = i; j < Math.min(items.length, i + AT_ONCE); j += 1) {
        add(items[j]);
      }
      finish();
    }
  }

  parts.layout = {
    ...{ classOf, aside, where, isShown, segment, hiddenEnd, clipped, range, seenOf, seenRows, inPaths },
    ...{ NEAR, OUTSIDE, STUB },
  };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
