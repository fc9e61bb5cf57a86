"use strict";
// The frame of a diagram: the lines of the processes with their names, the axis, and the overview strip,
// which shows the density of events and the visible part.
(function (parts) {
  const { AXIS } = parts.view;
  const NAME = { least: 48, most: 170, share: 0.24 }; // width of the names in pixels; share of the full width
  const BIN = 3; // pixels
  const WAVE = 8; // pixels

  // Shortens a text to a width.
  function shortened(ctx, text, width) {
    if (ctx.measureText(text).width <= width) {
      return text;
    }
    const letters = Array.from(text);
    let [low, high] = [0, letters.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const fits = ctx.measureText(letters.slice(0, middle).join("") + "…").width <= width;
      [low, high] = fits ? [middle, high] : [low, middle - 1];
    }
    return letters.slice(0, low).join("") + "…";
  }

  // The width of the column of names.
  function gutter(ctx, model, colours, width) {
    ctx.font = "600 13px " + colours.font;
    const widest = model.labels.reduce((most, label) => Math.max(most, ctx.measureText(label).width), 0);
    const most = Math.min(NAME.most, width * NAME.share);
    return Math.ceil(Math.min(Math.max(widest, NAME.least), most)) + 20;
  }

  function under(ctx, scene) {
    const { view, colours } = scene;
    ctx.fillStyle = colours.page;
    ctx.fillRect(0, 0, view.width, view.height);
    ctx.strokeStyle = colours.line;
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.6;
    ctx.beginPath();
    for (const { x } of view.ticks()) {
      ctx.moveTo(Math.round(x) + 0.5, 0);
      ctx.lineTo(Math.round(x) + 0.5, view.bottom());
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
    cuts(ctx, scene);
    ctx.strokeStyle = colours.quiet;
    ctx.beginPath();
    for (const row of parts.layout.seenRows(scene)) {
      const y = Math.round(view.y(row)) + 0.5;
      ctx.moveTo(view.gutter, y);
      ctx.lineTo(view.width, y);
    }
    ctx.stroke();
  }

  // A shaded band with a wavy edge wherever time was cut out.
  function cuts(ctx, { view, colours }) {
    ctx.lineWidth = 1;
    for (const { low, high } of view.index().cuts) {
      const [left, right] = [view.x(low), view.x(high)];
      if (right < view.gutter || left > view.width) {
        continue;
      }
      ctx.fillStyle = colours.panel;
      ctx.fillRect(left, 0, right - left, view.bottom());
      ctx.strokeStyle = colours.quiet;
      ctx.beginPath();
      for (const x of [left, right]) {
        ctx.moveTo(x, 0);
        for (let y = 0; y < view.bottom(); y += WAVE) {
          ctx.quadraticCurveTo(x + (y % (2 * WAVE) ? -3 : 3), y + WAVE / 2, x, y + WAVE);
        }
      }
      ctx.stroke();
    }
  }

  // How much time was cut out, at the top of the band.
  function cutLabels(ctx, { view, colours }) {
    ctx.font = "12px " + colours.font;
    ctx.textAlign = "center";
    ctx.fillStyle = colours.quiet;
    for (const { low, high, skipped } of view.index().cuts) {
      const x = view.x((low + high) / 2);
      const text = parts.format.time(skipped) + " skipped";
      const half = ctx.measureText(text).width / 2;
      if (x - half > view.gutter && x + half < view.width) {
        ctx.fillText(text, x, 9);
      }
    }
    ctx.textAlign = "left";
  }

  function over(ctx, scene) {
    const { model, view, colours } = scene;
    ctx.fillStyle = colours.page;
    ctx.fillRect(0, 0, view.gutter, view.height);
    ctx.fillRect(0, view.bottom(), view.width, AXIS);
    ctx.direction = "ltr";
    ctx.font = "600 13px " + colours.font;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    ctx.fillStyle = colours.text;
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, 0, view.gutter, view.bottom());
    ctx.clip();
    for (const row of parts.layout.seenRows(scene)) {
      const name = parts.format.isolated(shortened(ctx, model.labels[row], view.gutter - 16));
      ctx.fillText(name, view.gutter - 10, view.y(row));
    }
    ctx.restore();
    cutLabels(ctx, scene);
    axis(ctx, scene);
    scrollbar(ctx, scene);
  }

  // Shows that there are more processes above or below.
  function scrollbar(ctx, { view, colours }) {
    const [above, seen] = view.scrolled();
    if (seen < 1) {
      ctx.fillStyle = colours.quiet;
      ctx.globalAlpha = 0.5;
      ctx.fillRect(view.width - 6, above * view.bottom() + 2, 4, seen * view.bottom() - 4);
      ctx.globalAlpha = 1;
    }
  }

  function axis(ctx, scene) {
    const { view, colours } = scene;
    const y = Math.round(view.bottom()) + 0.5;
    ctx.strokeStyle = colours.line;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(view.gutter, y);
    ctx.lineTo(view.width, y);
    ctx.stroke();
    ctx.fillStyle = colours.quiet;
    ctx.font = "12px " + colours.font;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    ctx.fillText(view.axis, view.gutter - 10, view.bottom() + AXIS / 2 + 1);
    ctx.textAlign = "center";
    let free = view.gutter; // around a cut, ticks may be close to each other
    for (const { x, text } of view.ticks()) {
      const half = ctx.measureText(text).width / 2;
      if (x - half >= free && x + half <= view.width) {
        ctx.fillText(text, x, view.bottom() + AXIS / 2 + 1);
        free = x + half + 8;
      }
    }
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
  }

  // The number of marks per bin of the strip.
  function histogram(index, width) {
    const bins = new Uint32Array(Math.max(1, Math.ceil(width / BIN)));
    const scale = (bins.length - 1) / (index.high - index.low || 1);
    for (const position of index.at) {
      bins[Math.round((position - index.low) * scale)] += 1;
    }
    return bins;
  }

  function overview(ctx, scene, width, height) {
    const { model, view, colours } = scene;
    const index = view.index();
    const bins = histogram(index, width);
    const most = bins.reduce((a, b) => Math.max(a, b), 1);
    ctx.fillStyle = colours.panel;
    ctx.fillRect(0, 0, width, height);
    ctx.fillStyle = colours.arrow;
    bins.forEach((count, bin) => {
      const tall = Math.sqrt(count / most) * (height - 4); // square roots keep small counts visible
      ctx.fillRect(bin * BIN, height - tall, BIN - 0.5, tall);
    });
    const x = (position) => ((position - index.low) / (index.high - index.low || 1)) * width;
    if (scene.matches) {
      ctx.fillStyle = colours.match;
      const seen = new Set();
      scene.matches.forEach((isMatch, mark) => isMatch && seen.add(Math.round(x(index.at[mark]))));
      seen.forEach((left) => ctx.fillRect(left - 1, 0, 2, height / 2));
    }
    ctx.fillStyle = colours.bad;
    for (const mark of model.wrong.keys()) {
      ctx.fillRect(x(index.at[mark]) - 1.5, 0, 3, height);
    }
    const [left, right] = [Math.max(0, x(view.low)), Math.min(width, x(view.high))];
    ctx.globalAlpha = 0.5;
    ctx.fillStyle = colours.page;
    ctx.fillRect(0, 0, left, height);
    ctx.fillRect(right, 0, width - right, height);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = colours.text;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(Math.min(left, width - 4) + 0.75, 0.75, Math.max(right - left, 4) - 1.5, height - 1.5);
  }

  parts.frame = { gutter, under, over, overview };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
