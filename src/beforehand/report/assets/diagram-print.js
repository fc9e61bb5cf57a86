"use strict";
// Draws a diagram for paper: light, and as wide as a page. A browser doesn't wait for frames or for observers
// of sizes when it prints, so all of it is drawn at once, when printing begins.
(function (parts) {
  const WIDTH = 760; // pixels: about the width of a page, to which it is scaled
  const MOST_HEIGHT = 900; // pixels, so that it fits on one page

  let isPrinting = false; // a page may mount more diagrams when printing begins

  window.addEventListener("beforeprint", () => {
    isPrinting = true;
  });
  window.addEventListener("afterprint", () => {
    isPrinting = false;
  });

  class Printing {
    constructor(diagram) {
      this.diagram = diagram;
      this.media = window.matchMedia("print");
      this.isOn = false;
    }

    attach(signal) {
      window.addEventListener("beforeprint", () => this.turn(true), { signal });
      window.addEventListener("afterprint", () => this.turn(false), { signal });
      this.media.addEventListener("change", () => this.turn(this.media.matches), { signal });
      this.turn(isPrinting || this.media.matches);
    }

    turn(isOn) {
      const { diagram } = this;
      if (isOn === this.isOn) {
        return;
      }
      this.isOn = isOn;
      if (isOn) {
        const { usual } = parts.view.heights(diagram.rows.shown.length);
        diagram.size(WIDTH, Math.min(usual, MOST_HEIGHT));
      }
      diagram.recolour();
      if (!isOn) {
        diagram.resize();
      }
      diagram.draw();
    }
  }

  parts.print = { Printing };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
