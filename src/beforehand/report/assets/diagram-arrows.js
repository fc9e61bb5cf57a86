"use strict";
// Draws the visible arrows of a diagram, and the hovered target. Arrows of the same style are batched,
// and arrows that would cover the same pixels are drawn once.
(function (parts) {
  const { SHAPES, HIGHLIGHTS, DIMMED } = parts.shapes;
  const { classOf, where, isShown, segment, hiddenEnd, clipped, range, inPaths, OUTSIDE } = parts.layout;
  const ARROWS = ["message", "relay", "control"];
  const CROWD = 700; // arrows of one style, above which heads and dashes are omitted
  const AIRY = 120; // arrows of one style that fit without hiding each other

  // A key that is shared by arrows between the same processes that cover the same pixels.
  function alike(scene, arrow, line) {
    const { model, view } = scene;
    const { start, end } = model.arrows;
    const total = model.labels.length + 1; // and one for arrows without an end
    const last = end[arrow] < 0 ? total - 1 : model.process[end[arrow]];
    const width = Math.ceil(view.width) + 2 * OUTSIDE + 1;
    const [from, to] = [Math.round(line[0]) + OUTSIDE, Math.round(line[2]) + OUTSIDE];
    return ((model.process[start[arrow]] * total + last) * width + from) * width + to;
  }

  function collectArrows(scene) {
    const { model, view } = scene;
    const looks = Array.from({ length: 12 }, () => new Map()); // by class and kind
    view.index().arrows.spans.touching(...range(scene), (arrow) => {
      const kind = model.arrows.kind[arrow];
      if (kind === 2 && !scene.show.controls) {
        return;
      }
      const whole = segment(scene, arrow);
      if (!whole) {
        return;
      }
      const line = clipped(scene, whole);
      if (Math.max(line[1], line[3]) >= 0 && Math.min(line[1], line[3]) <= view.bottom()) {
        const look = classOf(scene, model.arrows.message[arrow]) * 3 + kind;
        const hidden = hiddenEnd(scene, arrow);
        looks[look].set(alike(scene, arrow, line), { line, hidden, lost: !hidden && model.arrows.end[arrow] < 0 });
      }
    });
    return looks.map((arrows) => [...arrows.values()]);
  }

  function dashes(kind, group) {
    if (ARROWS[kind] === "relay") {
      return [5, 4];
    }
    if (ARROWS[kind] === "control") {
      return [1.5, 3];
    }
    return group === 2 ? [10, 4] : [];
  }

  function head(ctx, [x1, y1, x2, y2], size) {
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 22) {
      return;
    }
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [x, y] = [x2 - dx * 5, y2 - dy * 5]; // in front of the mark, not under it
    ctx.moveTo(x, y);
    ctx.lineTo(x - dx * size - dy * size * 0.45, y - dy * size + dx * size * 0.45);
    ctx.lineTo(x - dx * size + dy * size * 0.45, y - dy * size - dx * size * 0.45);
    ctx.closePath();
  }

  // A small circle where an arrow comes from or goes to a hidden process.
  function looseEnd(ctx, { line, hidden }) {
    const [x, y] = hidden === "start" ? line : line.slice(2);
    ctx.moveTo(x + 3, y);
    ctx.arc(x, y, 3, 0, 2 * Math.PI);
  }

  function strokeArrows(ctx, scene, arrows, kind, group) {
    const crowded = arrows.length > CROWD;
    const ease = Math.max(0.45, Math.min(1, AIRY / arrows.length)); // the more arrows, the fainter
    const thin = ARROWS[kind] === "control";
    const colour = scene.colours[HIGHLIGHTS[group] || (thin ? "control" : "arrow")];
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.globalAlpha = (scene.classes && group === 0 ? DIMMED : 1) * (group === 0 ? ease : 1);
    ctx.lineWidth = (thin ? 0.9 : 1.3) * (group ? 1.7 : 1) * Math.sqrt(ease);
    ctx.setLineDash(crowded ? [] : dashes(kind, group));
    inPaths(ctx, arrows, ({ line }) => {
      ctx.moveTo(line[0], line[1]);
      ctx.lineTo(line[2], line[3]);
    }, () => ctx.stroke());
    ctx.setLineDash([]);
    if (!crowded) {
      const lost = arrows.filter((arrow) => arrow.lost);
      const arrived = arrows.filter((arrow) => !arrow.lost && arrow.hidden !== "end");
      const loose = arrows.filter((arrow) => arrow.hidden);
      inPaths(ctx, arrived, ({ line }) => head(ctx, line, thin ? 5 : 8), () => ctx.fill());
      inPaths(ctx, lost, ({ line }) => SHAPES.evict(ctx, line[2], line[3], 4), () => ctx.fill());
      inPaths(ctx, loose, (arrow) => looseEnd(ctx, arrow), () => ctx.stroke());
    }
    ctx.globalAlpha = 1;
  }

  // Draws the arrows and returns their number.
  function drawArrows(ctx, scene) {
    const looks = collectArrows(scene);
    looks.forEach((arrows, look) => strokeArrows(ctx, scene, arrows, look % 3, Math.floor(look / 3)));
    return looks.reduce((sum, arrows) => sum + arrows.length, 0);
  }

  // Draws the hovered message or control frame on top of everything else, with larger marks.
  function pointed(ctx, scene, { message, mark, arrow }) {
    const { model, colours } = scene;
    const arrows = message >= 0 ? [...model.arrowsAbout.of(message)] : arrow >= 0 ? [arrow] : [];
    const lines = arrows
      .filter((id) => (model.arrows.kind[id] !== 2 || scene.show.controls) && segment(scene, id))
      .map((id) => ({ line: clipped(scene, segment(scene, id)) }));
    ctx.strokeStyle = ctx.fillStyle = colours.text;
    ctx.lineWidth = 2.5;
    inPaths(ctx, lines, ({ line }) => {
      ctx.moveTo(line[0], line[1]);
      ctx.lineTo(line[2], line[3]);
    }, () => ctx.stroke());
    for (const own of message < 0 ? [] : model.marksAbout.of(message)) {
      const shape = SHAPES[model.kindOf(own)];
      if (shape && model.kindOf(own) !== "control" && isShown(scene, own)) {
        const { x, y } = where(scene, own);
        ctx.beginPath();
        shape(ctx, x, y, 6);
        ctx.fill();
      }
    }
    if (mark >= 0 && isShown(scene, mark)) {
      const { x, y } = where(scene, mark);
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.arc(x, y, 9.5, 0, 2 * Math.PI);
      ctx.stroke();
    }
  }

  parts.arrows = { drawArrows, pointed };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
