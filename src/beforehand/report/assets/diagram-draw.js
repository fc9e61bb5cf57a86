"use strict";
// Draws the visible part of a diagram: bars, arrows, marks, names and flags.
(function (parts) {
  const { SHAPES, HIGHLIGHTS, DIMMED, barFill } = parts.shapes;
  const { classOf, aside, where, isShown, range, seenOf, seenRows, inPaths, NEAR } = parts.layout;
  const BARS = ["held", "buffered"];
  const RADIUS = { least: 2, most: 5.5, speck: 2.4 }; // below `speck`, all marks are drawn as dots
  const BAR = 5; // height
  const LABEL_GAP = { usual: 8, crowd: 70 };

  function barBox(scene, bar) {
    const { model, view } = scene;
    const { bars, lane } = view.index();
    const left = Math.max(view.x(bars.from[bar]), view.gutter - NEAR);
    const right = Math.min(view.x(bars.to[bar]), view.width + NEAR);
    const side = model.bars.kind[bar] === 0 ? -1 : 1;
    const middle = view.y(model.process[model.bars.start[bar]]) + side * (view.aside() + lane[bar] * (BAR + 1));
    return [left, middle - BAR / 2, Math.max(right - left, 1), BAR];
  }

  // Returns the number of bars, and the rows where they are so high that names must go above them.
  function drawBars(ctx, scene) {
    const { model, view } = scene;
    const looks = [[], [], [], []]; // by kind and whether dimmed
    const stacked = new Set();
    let [before, drawn] = ["", 0];
    view.index().bars.spans.touching(...range(scene), (bar) => {
      if (!isShown(scene, model.bars.start[bar])) {
        return;
      }
      const box = barBox(scene, bar);
      const key = Math.round(box[0]) + " " + box[1] + " " + Math.round(box[2]);
      if (key === before || box[1] + BAR < 0 || box[1] > view.bottom()) {
        return;
      }
      before = key;
      const dim = scene.classes && classOf(scene, model.bars.message[bar]) === 0 ? 2 : 0;
      looks[model.bars.kind[bar] + dim].push(box);
      if (model.bars.kind[bar] === 0 && view.index().lane[bar] > 0) {
        stacked.add(model.process[model.bars.start[bar]]);
      }
      drawn += 1;
    });
    looks.forEach((boxes, look) => {
      ctx.fillStyle = barFill(ctx, BARS[look % 2], scene.colours[BARS[look % 2]]);
      ctx.globalAlpha = look > 1 ? DIMMED : 1;
      inPaths(ctx, boxes, (box) => ctx.rect(...box), () => ctx.fill());
    });
    ctx.globalAlpha = 1;
    return { drawn, stacked };
  }

  function collectMarks(scene) {
    const { model, view } = scene;
    const { at, rows } = view.index();
    const looks = Array.from({ length: 4 * model.kinds.length }, () => []); // by class and kind
    const isShown = model.kinds.map((kind) => (kind === "control" ? scene.show.controls : kind in SHAPES));
    let busiest = 1; // the largest number of marks on a line
    for (const row of seenRows(scene)) {
      const last = new Float64Array(looks.length).fill(-Infinity);
      const [first, end] = seenOf(scene, row);
      let here = 0;
      for (let i = first; i < end; i += 1) {
        const mark = rows[row][i];
        const look = classOf(scene, model.message[mark]) * model.kinds.length + model.kind[mark];
        const x = view.x(at[mark]);
        if (isShown[model.kind[mark]] && x - last[look] >= 0.75) {
          last[look] = x;
          here += 1;
          looks[look].push({ x, y: view.y(row) + aside(scene, mark) });
        }
      }
      busiest = Math.max(busiest, here);
    }
    return { looks, busiest };
  }

  // As large as the busiest visible line allows; its marks are on three levels.
  function radius(view, busiest) {
    const room = (view.width - view.gutter) / busiest;
    return Math.min(RADIUS.most, view.aside() * 0.7, Math.max(RADIUS.least, room));
  }

  function drawMarks(ctx, scene) {
    const { kinds } = scene.model;
    const { looks, busiest } = collectMarks(scene);
    const size = radius(scene.view, busiest);
    ctx.strokeStyle = scene.colours.page;
    ctx.lineWidth = 0.8;
    // Highlighted marks are drawn last, and marks of messages after all others.
    const last = kinds.length - 1;
    for (let turn = 0; turn < looks.length; turn += 1) {
      const group = Math.floor(turn / kinds.length);
      const kind = last - (turn % kinds.length);
      const marks = looks[group * kinds.length + kind];
      ctx.fillStyle = scene.colours[HIGHLIGHTS[group] || kinds[kind]] || scene.colours.other;
      ctx.globalAlpha = scene.classes && group === 0 ? DIMMED : 1;
      if (size < RADIUS.speck) {
        marks.forEach(({ x, y }) => ctx.fillRect(x - 0.6, y - size, 1.2, 2 * size));
      } else {
        inPaths(ctx, marks, ({ x, y }) => SHAPES[kinds[kind]](ctx, x, y, size), () => {
          ctx.fill();
          ctx.stroke(); // separates overlapping marks
        });
      }
    }
    ctx.globalAlpha = 1;
    return { size, drawn: looks.reduce((sum, marks) => sum + marks.length, 0) };
  }

  function drawFlags(ctx, scene) {
    ctx.strokeStyle = ctx.fillStyle = scene.colours.bad;
    ctx.lineWidth = 2.5;
    ctx.font = "bold 14px " + scene.colours.font;
    ctx.textAlign = "center";
    for (const mark of scene.model.wrong.keys()) {
      if (!isShown(scene, mark)) {
        continue;
      }
      const { x, y } = where(scene, mark);
      if (x > scene.view.gutter - NEAR && x < scene.view.width + NEAR) {
        ctx.beginPath();
        ctx.arc(x, y, 10, 0, 2 * Math.PI);
        ctx.stroke();
        ctx.fillText("!", x, y + 22);
      }
    }
    ctx.textAlign = "left";
  }

  // Calls `visit` for the visible marks that are chosen, but not twice for the same pixel of a line.
  function visible(scene, isChosen, visit) {
    const { at, rows } = scene.view.index();
    for (const row of seenRows(scene)) {
      const [first, end] = seenOf(scene, row);
      let last = -Infinity;
      for (let i = first; i < end; i += 1) {
        const mark = rows[row][i];
        const x = scene.view.x(at[mark]);
        if (isChosen(mark) && x - last >= 1) {
          last = x;
          visit(where(scene, mark));
        }
      }
    }
  }

  // A disc behind each mark that the search has found.
  function drawMatches(ctx, scene) {
    const spots = [];
    visible(scene, (mark) => scene.matches[mark], (spot) => spots.push(spot));
    ctx.fillStyle = scene.colours.match;
    ctx.globalAlpha = 0.75;
    inPaths(ctx, spots, ({ x, y }) => SHAPES.send(ctx, x, y, 9), () => ctx.fill());
    ctx.globalAlpha = 1;
    return spots.length;
  }

  // A diamond around each delivery that has another place in the run this one is compared with.
  function drawDiffering(ctx, scene) {
    const spots = [];
    visible(scene, (mark) => scene.model.differs.has(mark), (spot) => spots.push(spot));
    ctx.strokeStyle = scene.colours.differs;
    ctx.lineWidth = 1.8;
    inPaths(ctx, spots, ({ x, y }) => parts.shapes.diamond(ctx, x, y, 9), () => ctx.stroke());
    return spots.length;
  }

  // Draws the name of a message above its causal-send, unless it would touch the previous name.
  function drawLabels(ctx, scene, stacked, gap) {
    const { model, view } = scene;
    const { at, rows } = view.index();
    const send = model.kinds.indexOf("send");
    ctx.font = "12px " + scene.colours.font;
    ctx.lineWidth = 3;
    ctx.strokeStyle = scene.colours.page;
    for (const row of seenRows(scene)) {
      let free = -Infinity;
      const [first, end] = seenOf(scene, row);
      for (const mark of rows[row].subarray(first, end)) {
        const message = model.message[mark];
        const x = view.x(at[mark]) - 4;
        if (model.kind[mark] !== send || message < 0 || x < free) {
          continue;
        }
        const group = classOf(scene, message);
        if (scene.classes && group === 0) {
          continue;
        }
        const text = scene.classes ? model.name(message, 24) : "#" + model.messages.mid[message];
        const y = view.y(row) - view.aside() - (stacked.has(row) ? 2 * BAR : 0) - 8;
        ctx.fillStyle = scene.colours[HIGHLIGHTS[group] || "quiet"];
        ctx.strokeText(text, x, y);
        ctx.fillText(text, x, y);
        free = x + ctx.measureText(text).width + gap;
      }
    }
  }

  // Draws everything but the frame; returns the number of items drawn.
  function content(ctx, scene) {
    const { drawn: bars, stacked } = scene.show.bars ? drawBars(ctx, scene) : { drawn: 0, stacked: new Set() };
    const arrows = parts.arrows.drawArrows(ctx, scene);
    const matches = scene.matches ? drawMatches(ctx, scene) : 0;
    const { size, drawn: marks } = drawMarks(ctx, scene);
    const differs = scene.model.differs.size ? drawDiffering(ctx, scene) : 0;
    if (scene.show.labels) {
      drawLabels(ctx, scene, stacked, size < RADIUS.speck ? LABEL_GAP.crowd : LABEL_GAP.usual);
    }
    drawFlags(ctx, scene);
    return { bars, arrows, marks, matches, differs, drawn: bars + arrows + marks };
  }

  parts.draw = { content };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
