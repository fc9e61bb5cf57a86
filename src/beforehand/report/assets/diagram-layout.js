"use strict";
// Where marks and arrows lie on the canvas, and which of them are in sight.
//
// A scene is the input of a drawing: { model, view, colours, show: { bars, controls, labels }, classes }. The
// class of a message is 0 other, 1 past, 2 future, 3 selected; `classes` is null if none is selected.
(function (parts) {
  const NEAR = 24; // pixels outside of the canvas from where something may still be seen
  const OUTSIDE = 1000; // pixels that lines may go on outside of the canvas
  const STUB = 16; // length of an arrow that ends nowhere
  const AT_ONCE = 200; // lines or shapes in one path: longer paths are slower, each of them

  function classOf(scene, message) {
    return scene.classes && message >= 0 ? scene.classes[message] : 0;
  }

  function aside(scene, mark) {
    const kind = scene.model.kindOf(mark);
    return kind === "send" ? -scene.view.aside() : kind === "deliver" ? scene.view.aside() : 0;
  }

  // Where a mark lies on the canvas.
  function where(scene, mark) {
    const { model, view } = scene;
    return { x: view.x(view.index().at[mark]), y: view.y(model.process[mark]) + aside(scene, mark) };
  }

  // An arrow as [x1, y1, x2, y2]; one that ends nowhere is a stub towards whom it was for.
  function segment(scene, arrow) {
    const { model, view } = scene;
    const from = where(scene, model.arrows.start[arrow]);
    if (model.arrows.end[arrow] >= 0) {
      const to = where(scene, model.arrows.end[arrow]);
      return [from.x, from.y, to.x, to.y];
    }
    const start = model.arrows.start[arrow];
    const peer = model.marks.peer[start];
    const down = peer < 0 ? 0 : Math.sign(peer - model.process[start]);
    return [from.x, from.y, from.x + STUB, from.y + down * Math.min(18, view.row() * 0.3)];
  }

  // Cut off what is far outside: canvases count in floats and lose small steps between large numbers.
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

  // The marks of a process that are seen: from one index among its marks to another.
  function seenOf(scene, process) {
    const { at, rows } = scene.view.index();
    const [low, high] = range(scene);
    const first = parts.model.firstFrom(rows[process], at, low);
    return [first, parts.model.firstFrom(rows[process], at, high)];
  }

  function seenRows(scene) {
    const { model, view } = scene;
    const first = Math.max(0, view.process(-view.row() / 2));
    const last = Math.min(model.labels.length - 1, view.process(view.bottom() + view.row() / 2));
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
  }

  // Draw things that look alike, many with one path.
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
    ...{ classOf, aside, where, segment, clipped, range, seenOf, seenRows, inPaths },
    ...{ NEAR, OUTSIDE, STUB },
  };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
