"use strict";
// An interactive space-time diagram: BeforehandDiagram.mount(element, data, options) draws the output of
// `columns` in Python into an element and returns a handle. The only option is `fill`: use the full
// height of the element; otherwise the diagram is as high as its processes need.
(function (parts) {
  const MANY_CONTROLS = 150; // arrows; more are hidden initially
  const MOST_OF_WINDOW = 0.7; // share of its height, for a diagram within a page
  const LEAST_HEIGHT = 240; // even in a small window
  const OVERVIEW = 36; // height of the strip
  const WORTH_A_STRIP = 60; // events, from which on there is a strip
  const MOST_LETTERS = 1000; // of a sentence in the data
  const NOTHING = { mark: -1, arrow: -1, message: -1, others: [] };

  // Sizes a canvas to device pixels, and scales its context to CSS pixels.
  function sharp(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const ctx = canvas.getContext("2d");
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    return ctx;
  }

  class Diagram {
    constructor(element, data, options) {
      this.element = element;
      this.fills = Boolean(options.fill);
      this.model = parts.model.read(data);
      this.order = parts.order.ordered(this.model);
      this.view = new parts.view.View(this.model);
      const controls = data.arrows.kind.filter((kind) => kind === 2).length;
      this.show = { bars: true, controls: controls <= MANY_CONTROLS, labels: true };
      this.scene = { model: this.model, view: this.view, show: this.show, colours: {}, classes: null };
      this.chosen = { message: -1, past: new Set(), future: new Set() };
      this.pointed = NOTHING;
      this.isSeen = false; // false until it has a width, which it lacks inside a closed element
      this.wrong = -1; // index of the last violation that was visited
      this.frame = 0; // the pending animation frame
      this.stats = { drawn: 0, ms: 0 };
      this.print = window.matchMedia("print");
      this.ending = new AbortController();
      this.watcher = new ResizeObserver(() => this.resize());
      this.actions = this.makeActions();
      this.built = parts.controls.build(this.model, this.view, this.show, this.actions);
      this.assemble();
      this.begin(data.selected);
    }

    // The actions of buttons, mouse and keys.
    makeActions() {
      const { view } = this;
      const redrawn = (change) => (...given) => {
        change(...given);
        this.redraw();
      };
      return {
        pan: redrawn((dx, dy) => view.pan(dx, dy)),
        zoom: redrawn((factor, x = (view.gutter + view.width) / 2) => view.zoom(factor, x)),
        fit: redrawn(() => view.fit()),
        turn: redrawn((axis) => view.turn(axis)),
        go: redrawn((share) => view.go(share)),
        toggle: redrawn((name) => {
          this.show[name] = !this.show[name];
        }),
        point: (at, reach) => this.point(parts.find.under(this.scene, at.x, at.y, reach) || NOTHING, at),
        press: (at, reach) => this.press(at, reach),
        leave: () => this.point(NOTHING),
        step: (by) => this.step(by),
        choose: () => this.pointed.message >= 0 && this.select(this.pointed.message),
        clear: () => {
          this.select(null);
          this.point(NOTHING);
        },
        find: (text) => this.find(text),
        wrong: () => this.nextWrong(),
        describe: () => this.describe(),
      };
    }

    assemble() {
      const { bar, status, stage, overview, legend, text } = this.built;
      const sentences = this.model.note ? [parts.format.clean(this.model.note, MOST_LETTERS)] : [];
      const note = sentences.map((sentence) => parts.details.make("p", sentence, "diagram-note"));
      overview.hidden = this.model.kind.length < WORTH_A_STRIP;
      this.element.classList.add("diagram");
      this.element.classList.toggle("diagram-fill", this.fills);
      this.element.replaceChildren(bar, ...note, status.element, stage.element, overview, legend, text);
      const { usual, most } = parts.view.heights(this.model.labels.length);
      if (this.fills) {
        stage.element.style.maxHeight = most + "px";
      } else {
        const limit = Math.max(LEAST_HEIGHT, window.innerHeight * MOST_OF_WINDOW);
        stage.element.style.height = Math.min(usual, limit) + "px";
      }
    }

    begin(selected) {
      this.recolour();
      this.select(selected);
      this.resize();
      const { signal } = this.ending;
      const { surface } = this.built.stage;
      const isOurs = () => this.fills || document.activeElement === surface;
      const { view, actions } = this;
      parts.input.attach({ surface, overview: this.built.overview, view, actions, isOurs, signal });
      document.addEventListener("themechange", () => this.recolour(), { signal });
      this.print.addEventListener("change", () => {
        this.recolour();
        this.draw(); // printing doesn't wait for a frame
      }, { signal });
      this.watcher.observe(this.built.stage.element);
      this.draw();
    }

    recolour() {
      this.scene.colours = parts.shapes.palette(this.element, this.print.matches);
      this.built.paint(this.scene.colours);
      this.redraw();
    }

    resize() {
      const { element, base } = this.built.stage;
      const { width, height } = element.getBoundingClientRect();
      if (width < 1) {
        return; // not visible yet
      }
      const names = parts.frame.gutter(base.getContext("2d"), this.model, this.scene.colours, width);
      this.view.resize(width, height, names);
      if (!this.isSeen) {
        this.isSeen = true;
        this.view.begin();
        const [first] = this.chosen.message < 0 ? [] : this.model.marksAbout.of(this.chosen.message);
        if (first !== undefined) {
          this.view.reveal(first);
        }
      }
      this.redraw();
    }

    redraw() {
      this.frame = this.frame || window.requestAnimationFrame(() => this.draw());
    }

    draw() {
      this.frame = 0;
      if (!this.isSeen) {
        return;
      }
      const { scene, view } = this;
      const { stage, overview } = this.built;
      const began = performance.now();
      const ctx = sharp(stage.base, view.width, view.height);
      parts.frame.under(ctx, scene);
      const drawn = parts.draw.content(ctx, scene);
      parts.frame.over(ctx, scene);
      this.drawPointed();
      if (!overview.hidden) {
        const width = overview.clientWidth;
        parts.frame.overview(sharp(overview, width, OVERVIEW), scene, width, OVERVIEW);
      }
      this.stats = { ...drawn, ms: performance.now() - began };
    }

    // Drawn on a canvas of its own, because it follows the pointer.
    drawPointed() {
      const { view } = this;
      const ctx = sharp(this.built.stage.surface, view.width, view.height);
      ctx.clearRect(0, 0, view.width, view.height);
      ctx.save();
      ctx.beginPath();
      ctx.rect(view.gutter, 0, view.room(), view.bottom());
      ctx.clip();
      parts.arrows.pointed(ctx, this.scene, this.pointed);
      ctx.restore();
    }

    // Updates the hovered target.
    point(target, at) {
      const { surface, tip } = this.built.stage;
      const same = target.mark === this.pointed.mark && target.arrow === this.pointed.arrow;
      this.pointed = target;
      surface.style.cursor = target === NOTHING ? "" : "pointer";
      tip.hidden = target === NOTHING;
      this.element.dataset.pointed = target.message >= 0 ? String(target.message) : "";
      if (!same) {
        tip.replaceChildren(...(target === NOTHING ? [] : [parts.details.tooltip(this.model, target)]));
        this.drawPointed();
      }
      if (target !== NOTHING) {
        this.placeTip(at);
      }
    }

    // Places the tooltip next to the hovered target and inside the stage.
    placeTip({ x, y }) {
      const { tip } = this.built.stage;
      const { width, height } = tip.getBoundingClientRect();
      const left = x + 18 + width > this.view.width ? x - 18 - width : x + 18;
      tip.style.left = Math.max(4, Math.min(left, this.view.width - width - 4)) + "px";
      tip.style.top = Math.max(4, Math.min(y + 14, this.view.height - height - 4)) + "px";
    }

    press(at, reach) {
      const target = parts.find.under(this.scene, at.x, at.y, reach, this.chosen.message) || NOTHING;
      this.select(target.message);
      this.point(target, at);
    }

    // Selects a message by its index; null or -1 for none.
    select(message) {
      const { model, order, built: { status } } = this;
      if (message === null || message < 0) {
        this.chosen = { message: -1, past: new Set(), future: new Set() };
        this.scene.classes = null;
        status.show(parts.details.summary(model));
      } else {
        const [past, future] = [order.past(message), order.future(message)];
        this.chosen = { message, past, future };
        const classes = new Uint8Array(model.messages.sender.length);
        future.forEach((other) => { classes[other] = 2; });
        past.forEach((other) => { classes[other] = 1; });
        classes[message] = 3;
        this.scene.classes = classes;
        status.selected(parts.details.selection(model, message, past, future));
      }
      this.element.dataset.selected = this.chosen.message < 0 ? "" : String(message);
      this.describe();
      this.redraw();
    }

    // The table is filled when it is opened.
    describe() {
      const { message } = this.chosen;
      if (!this.built.text.open) {
        return;
      }
      this.built.words.replaceChildren(
        message < 0
          ? parts.details.make("p", "Choose a message: its events and those of its neighbours are listed here.")
          : parts.details.table(this.model, [message, ...this.order.neighbours(message)]),
      );
    }

    reveal(mark) {
      this.view.reveal(mark);
      this.redraw();
    }

    find(text) {
      const target = parts.find.named(this.model, text);
      if (!target) {
        const name = parts.format.isolated(parts.format.clean(text, 60));
        this.built.status.show("Nothing here is called " + name + ".");
        return;
      }
      if ("message" in target) {
        this.select(target.message);
      }
      const { marksAbout, marksOf } = this.model;
      const [first] = "message" in target ? marksAbout.of(target.message) : marksOf.of(target.process);
      if (first !== undefined) {
        this.reveal(first);
      }
    }

    nextWrong() {
      const { model } = this;
      const marks = [...model.wrong.keys()];
      this.wrong = (this.wrong + 1) % marks.length;
      const mark = marks[this.wrong];
      this.select(model.message[mark]);
      this.reveal(mark);
      this.built.status.show(model.wrong.get(mark).map((sentence) => parts.format.clean(sentence, MOST_LETTERS)).join(" "));
    }

    // Hovers the next or the previous message, in the order of their causal-sends along the axis.
    step(by) {
      const { model, view } = this;
      const { at } = view.index();
      const sends = model.messages.send.filter((mark) => mark >= 0).sort((a, b) => at[a] - at[b] || a - b);
      if (!sends.length) {
        return;
      }
      const now = this.pointed.message >= 0 ? this.pointed.message : this.chosen.message;
      const current = now < 0 ? (by < 0 ? 0 : -1) : sends.indexOf(model.messages.send[now]);
      const mark = sends[(current + by + sends.length) % sends.length];
      this.reveal(mark);
      const message = model.message[mark];
      this.point({ ...NOTHING, mark, message }, parts.layout.where(this.scene, mark));
      this.built.status.show(model.name(message) + ". Press Enter to select it.");
    }

    destroy() {
      this.ending.abort();
      this.watcher.disconnect();
      window.cancelAnimationFrame(this.frame);
      this.element.replaceChildren();
    }
  }

  // The handle for scripts and tests.
  function mount(element, data, options = {}) {
    const diagram = new Diagram(element, data, options);
    const { view, scene } = diagram;
    return {
      select: (message) => diagram.select(message),
      selection() {
        const { message, past, future } = diagram.chosen;
        return { message, past: [...past], future: [...future] };
      },
      view: () => ({ axis: view.axis, low: view.low, high: view.high, scroll: view.scroll }),
      fit: diagram.actions.fit,
      see(low, high) {
        view.see(low, high);
        diagram.redraw();
      },
      reveal: (mark) => diagram.reveal(mark),
      // The position of a mark in the window, in pixels.
      where(mark) {
        const box = diagram.built.stage.surface.getBoundingClientRect();
        const { x, y } = parts.layout.where(scene, mark);
        return { x: box.left + x, y: box.top + y };
      },
      stats: () => diagram.stats,
      destroy: () => diagram.destroy(),
    };
  }

  parts.mount = mount;
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
