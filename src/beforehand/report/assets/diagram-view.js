"use strict";
// The visible part of a diagram and its position on the canvas. Positions along the axis are
// nanoseconds or orders; x and y are CSS pixels of the canvas.
(function (parts) {
  const AXIS = 28; // height of the axis, at the bottom
  const TOP = 16; // space above the first line
  const ROW = { least: 54, usual: 72, most: 170 }; // height of a process, in pixels
  const MARGIN = 0.04; // share of the width that is left free at both ends,
  const EDGE = 16; // and the minimum in pixels: marks have a radius
  const MOST = { time: 4, order: 120 }; // pixels per nanosecond or step: more would show nothing new
  const TICK = 110; // minimum distance of ticks, in pixels
  const CLEAR = 7; // minimum distance at which two marks can be distinguished, in pixels
  const FEWEST = 30; // minimum number of events in the initial view

  class View {
    constructor(model, rows) {
      this.model = model;
      this.rows = rows;
      this.axis = model.axis;
      [this.low, this.high] = [0, 1]; // the visible part of the axis
      this.scroll = 0; // pixels hidden above the canvas
      [this.width, this.height, this.gutter] = [1, 1, 0]; // the gutter at the left is for the names
    }

    index() {
      return this.model.by(this.axis);
    }

    room() {
      return Math.max(this.width - this.gutter, 1); // a window may be narrower than the names
    }

    scale() {
      return this.room() / (this.high - this.low);
    }

    x(position) {
      return this.gutter + (position - this.low) * this.scale();
    }

    position(x) {
      return this.low + (x - this.gutter) / this.scale();
    }

    bottom() {
      return this.height - AXIS;
    }

    row() {
      const room = (this.bottom() - TOP) / Math.max(1, this.rows.shown.length);
      return Math.min(ROW.most, Math.max(ROW.least, room));
    }

    // Of a process that is not hidden.
    y(process) {
      return TOP + (this.rows.rowOf[process] + 0.5) * this.row() - this.scroll;
    }

    // The number of the line at a height.
    line(y) {
      return Math.floor((y - TOP + this.scroll) / this.row());
    }

    // Application events are next to the line: a causal-send above it, a delivery below.
    aside() {
      return Math.min(9, this.row() * 0.16);
    }

    // The fractions of the total height that are hidden above and visible.
    scrolled() {
      const all = TOP + this.rows.shown.length * this.row();
      return [this.scroll / all, Math.min(1, this.bottom() / all)];
    }

    whole() {
      return this.around(this.index().low, this.index().high);
    }

    // Extends a part of the axis by the margins.
    around(low, high) {
      const margin = (high - low || 1) * Math.max(MARGIN, EDGE / Math.max(EDGE, this.room() - 2 * EDGE));
      return [low - margin, high + margin];
    }

    // The shortest part of the axis that may fill the width; at most all of it.
    least() {
      const [low, high] = this.whole();
      return Math.min(this.room() / MOST[this.axis], high - low);
    }

    // Shows a part of the axis, within the limits.
    see(low, high) {
      const [first, last] = this.whole();
      const span = Math.min(Math.max(high - low, this.least()), last - first);
      this.low = Math.min(Math.max((low + high - span) / 2, first), last - span);
      this.high = this.low + span;
      const hidden = TOP + this.rows.shown.length * this.row() - this.bottom();
      this.scroll = Math.min(Math.max(this.scroll, 0), Math.max(0, hidden));
    }

    resize(width, height, gutter) {
      Object.assign(this, { width, height, gutter });
      this.see(this.low, this.high);
    }

    fit() {
      this.scroll = 0;
      this.see(...this.whole());
    }

    zoom(factor, x) {
      const span = Math.max((this.high - this.low) / factor, this.least());
      const low = this.position(x) - ((x - this.gutter) / this.room()) * span;
      this.see(low, low + span);
    }

    pan(dx, dy) {
      const shift = -dx / this.scale();
      this.scroll -= dy;
      this.see(this.low + shift, this.high + shift);
    }

    // Moves to a fraction of the axis, such as 0.5 for its middle.
    go(share) {
      const { low, high } = this.index();
      const first = low + share * (high - low) - (this.high - this.low) / 2;
      this.see(first, first + this.high - this.low);
    }

    // Moves, if necessary, to show a mark with some space around it.
    reveal(mark) {
      const x = this.x(this.index().at[mark]);
      const margin = Math.min(60, this.room() * 0.1);
      if (x < this.gutter + margin || x > this.width - margin) {
        this.pan((this.gutter + this.width) / 2 - x, 0);
      }
      const y = this.y(this.model.process[mark]);
      if (y < TOP + 10 || y > this.bottom() - 10) {
        this.pan(0, this.bottom() / 2 - y);
      }
    }

    // Shows everything if its marks can be distinguished then; otherwise as much as can of the beginning,
    // from the first message on. Returns whether it is everything.
    begin() {
      this.fit();
      if (this.isClear()) {
        return true;
      }
      const { at } = this.index();
      const events = Int32Array.from(at.keys()).filter((mark) => this.model.message[mark] >= 0);
      events.sort((a, b) => at[a] - at[b]);
      const journeys = 3 * this.journey();
      for (let some = events.length; some >= FEWEST && !this.isClear(); some = Math.floor(some * 0.7)) {
        const low = at[events[0]];
        this.see(...this.around(low, Math.max(at[events[some - 1]], low + journeys)));
      }
      return false;
    }

    // The position of the first event of a message.
    first() {
      const { at } = this.index();
      return at.reduce((least, position, mark) => (this.model.message[mark] < 0 ? least : Math.min(least, position)), Infinity);
    }

    // Shows some marks, with enough around them to see what they are about.
    focus(marks) {
      const [low, high] = parts.model.ends(marks.map((mark) => this.index().at[mark]));
      const more = Math.max((high - low) * 0.16, this.journey() - (high - low));
      const [first] = this.around(this.first(), this.index().high); // before that, there is only start-up
      this.see(Math.max(low - more, Math.min(first, low)), high + more);
    }

    // The typical latency of a message.
    journey() {
      const { from, to } = this.index().arrows;
      const lengths = from.map((start, i) => to[i] - start).filter((length) => length > 0);
      return lengths.sort((a, b) => a - b)[lengths.length >> 1] || 0;
    }

    // Whether most visible marks have some space before the next one on their line.
    isClear() {
      const { at, rows } = this.index();
      let [close, far] = [0, 0];
      for (const row of rows) {
        for (let i = parts.model.firstFrom(row, at, this.low) + 1; i < row.length && at[row[i]] <= this.high; i += 1) {
          const room = (at[row[i]] - at[row[i - 1]]) * this.scale();
          if (room > 0) {
            [close, far] = room < CLEAR ? [close + 1, far] : [close, far + 1];
          }
        }
      }
      return far >= 2 * close;
    }

    // Switches the axis and keeps the same events in view.
    turn(axis) {
      const seen = (position) => position >= this.low && position <= this.high;
      const next = this.model.by(axis).at;
      const positions = [...next].filter((_, mark) => seen(this.index().at[mark]));
      this.axis = axis;
      if (positions.length) {
        this.see(...this.around(...parts.model.ends(positions)));
      } else {
        this.fit();
      }
    }

    ticks() {
      const step = Math.max(niceStep(TICK / this.scale()), 1);
      const index = this.index();
      const ends = [index.real(this.low), index.real(this.high)];
      const largest = Math.max(...ends.map(Math.abs), step);
      const [unit, factor] =
        this.axis === "time" ? parts.format.UNITS.find(([, size]) => largest >= size) : ["", 1];
      const ticks = [];
      for (const [low, high] of parts.gaps.stretches(index, this.low, this.high)) {
        // At its ends a stretch touches a cut, where a position has two times.
        const [shift, last] = [index.real((low + high) / 2) - (low + high) / 2, high];
        for (let n = Math.ceil((low + shift) / step); n * step - shift <= last; n += 1) {
          // Zero may be negative here, and it needs no unit.
          const text = ((n * step || 0) / factor).toLocaleString("en", { maximumFractionDigits: 9 });
          ticks.push({ x: this.x(n * step - shift), text: unit && n ? text + " " + unit : text });
        }
      }
      return ticks;
    }
  }

  // A step of 1, 2 or 5 times a power of ten.
  function niceStep(least) {
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least * 0.999);
  }

  // The default and the maximum height of a diagram with this many processes.
  function heights(processes) {
    return { usual: AXIS + TOP + processes * ROW.usual, most: AXIS + TOP + processes * ROW.most };
  }

  parts.view = { View, heights, AXIS };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
