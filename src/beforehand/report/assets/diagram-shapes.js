"use strict";
// A shape and a colour for each kind of item, so that nothing depends on colour alone.
(function (parts) {
  const COLOURS = [
    ...["page", "panel", "line", "text", "quiet", "bad"],
    ...["send", "release", "receive", "deliver", "control", "other"],
    ...["arrow", "held", "buffered", "past", "future", "match", "differs"],
  ];
  const HIGHLIGHTS = ["", "past", "future", "text"]; // by class: other, past, future, selected
  const DIMMED = 0.16; // opacity of what isn't highlighted while something is
  const SHAPES = {
    send: disc,
    release: triangle,
    receive: ring,
    deliver: square,
    control: dot,
    evict: cross,
    start: gate,
    stop: gate,
  };

  function disc(ctx, x, y, r) {
    ctx.moveTo(x + r, y);
    ctx.arc(x, y, r, 0, 2 * Math.PI);
  }

  function ring(ctx, x, y, r) {
    disc(ctx, x, y, r);
    ctx.moveTo(x + r * 0.5, y);
    ctx.arc(x, y, r * 0.5, 0, 2 * Math.PI, true); // counter-clockwise, which cuts a hole
  }

  function dot(ctx, x, y, r) {
    disc(ctx, x, y, r * 0.4);
  }

  function square(ctx, x, y, r) {
    ctx.rect(x - r * 0.85, y - r * 0.85, r * 1.7, r * 1.7);
  }

  function triangle(ctx, x, y, r) {
    ctx.moveTo(x + r * 1.1, y);
    ctx.lineTo(x - r * 0.8, y - r);
    ctx.lineTo(x - r * 0.8, y + r);
    ctx.closePath();
  }

  function gate(ctx, x, y, r) {
    ctx.rect(x - r * 0.25, y - r * 1.5, r * 0.5, r * 3);
  }

  function diamond(ctx, x, y, r) {
    ctx.moveTo(x, y - r);
    ctx.lineTo(x + r, y);
    ctx.lineTo(x, y + r);
    ctx.lineTo(x - r, y);
    ctx.closePath();
  }

  function cross(ctx, x, y, r) {
    const thin = r * 0.28;
    for (const turn of [1, -1]) {
      ctx.moveTo(x - r, y - turn * (r - thin));
      ctx.lineTo(x - r + thin, y - turn * r);
      ctx.lineTo(x + r, y + turn * (r - thin));
      ctx.lineTo(x + r - thin, y + turn * r);
      ctx.closePath();
    }
  }

  // The current colours of the page, or those for print, which are always light.
  function palette(element, forPrint) {
    const root = document.documentElement;
    const theme = root.dataset.theme;
    if (forPrint) {
      root.dataset.theme = "light";
    }
    const style = window.getComputedStyle(element);
    const colours = Object.fromEntries(
      COLOURS.map((name) => [name, style.getPropertyValue("--diagram-" + name).trim()]),
    );
    colours.font = style.fontFamily;
    if (forPrint && theme !== undefined) {
      root.dataset.theme = theme;
    }
    return colours;
  }

  // Held bars are solid, buffered ones are striped.
  function barFill(ctx, kind, colour) {
    if (kind === "held") {
      return colour;
    }
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const small = tile.getContext("2d");
    small.fillStyle = colour;
    small.globalAlpha = 0.35;
    small.fillRect(0, 0, 6, 6);
    small.globalAlpha = 1;
    small.fillRect(0, 0, 2.5, 6);
    return ctx.createPattern(tile, "repeat");
  }

  parts.shapes = { SHAPES, HIGHLIGHTS, DIMMED, palette, barFill, diamond };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
