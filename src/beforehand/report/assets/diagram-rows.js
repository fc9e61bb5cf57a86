"use strict";
// Which processes have a line, and in which order. Hidden ones keep their place for when they return.
(function (parts) {
  class Rows {
    constructor(count) {
      this.order = Array.from({ length: count }, (_, process) => process);
      this.hidden = new Set();
      this.refresh();
    }

    refresh() {
      this.shown = this.order.filter((process) => !this.hidden.has(process));
      this.rowOf = new Int32Array(this.order.length).fill(-1); // of each process; -1 if it is hidden
      this.shown.forEach((process, row) => {
        this.rowOf[process] = row;
      });
      this.place = new Int32Array(this.order.length);
      this.order.forEach((process, place) => {
        this.place[process] = place;
      });
    }

    has(process) {
      return this.rowOf[process] >= 0;
    }

    hide(process) {
      this.hidden.add(process);
      this.refresh();
    }

    show(process) {
      this.hidden.delete(process);
      this.refresh();
    }

    reset() {
      this.hidden.clear();
      this.order.sort((a, b) => a - b);
      this.refresh();
    }

    // Swaps a process with the one above (-1) or below (1); returns whether there is one.
    move(process, by) {
      const from = this.place[process];
      const to = from + by;
      if (to < 0 || to >= this.order.length) {
        return false;
      }
      [this.order[from], this.order[to]] = [this.order[to], this.order[from]];
      this.refresh();
      return true;
    }
  }

  parts.rows = { Rows };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
