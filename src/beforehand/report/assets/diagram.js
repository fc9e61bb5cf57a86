"use strict";
// A diagram in an element of a page: what is selected, current and pointed at, and how that is drawn.
(function (parts) {
  const MANY_CONTROLS = 150; // arrows; more are hidden initially
  const MOST_OF_WINDOW = 0.7; // share of its height, for a diagram within a page
  const LEAST_HEIGHT = 240; // even in a small window
  const WIDE = 900; // pixels, from which on there is room for the log
  const OVERVIEW = 36; // height of the strip
  const WORTH_A_STRIP = 60; // events, from which on there is a strip
  const SETTLED = 150; // milliseconds without a movement, after which the log follows
  const { NOTHING } = parts.find;

  // Sizes a canvas to device pixels, and scales its context to CSS pixels.
  function sharp(canvas, width, height, least = 1) {
    const ratio = Math.max(window.devicePixelRatio || 1, least);
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
      this.onSelect = options.onSelect || (() => {});
      this.onChain = options.onChain || (() => {});
      this.model = parts.model.read(data);
      this.order = parts.order.ordered(this.model);
      this.rows = new parts.rows.Rows(this.model.labels.length);
      this.view = new parts.view.View(this.model, this.rows);
      const controls = data.arrows.kind.filter((kind) => kind === 2).length;
      const log = options.log === undefined ? this.fills && window.innerWidth >= WIDE : options.log;
      this.show = { bars: true, controls: controls <= MANY_CONTROLS, labels: true, log };
      this.scene = { model: this.model, view: this.view, show: this.show, colours: {}, classes: null, matches: null };
      this.chosen = { message: -1, past: new Set(), future: new Set() };
      this.current = -1; // the mark that is current in the log
      this.pointed = NOTHING;
      this.isSeen = false; // false until it has a width, which it lacks inside a closed element
      this.frame = 0; // the pending animation frame
      this.settling = 0; // the pending timer
      this.stats = { drawn: 0, ms: 0 };
      this.ending = new AbortController();
      this.watcher = new ResizeObserver(() => this.resize());
      this.actions = this.makeActions();
      this.built = parts.controls.build(this.model, this.view, this.show, this.actions);
      this.log = new parts.log.Log(this.model, this.rows, this.view, this.show, { pick: (mark) => this.pick(mark) });
      this.printing = new parts.print.Printing(this);
      this.tour = new parts.tour.Tour(this);
      this.assemble();
      this.begin(data.selected);
    }

    // The actions of buttons, mouse and keys.
    makeActions() {
      const { view, rows } = this;
      const redrawn = (change) => (...given) => {
        change(...given);
        this.redraw();
      };
      const lined = (change) => (...given) => {
        change(...given);
        this.relined();
      };
      return {
        pan: redrawn((dx, dy) => view.pan(dx, dy)),
        zoom: redrawn((factor, x = (view.gutter + view.width) / 2) => view.zoom(factor, x)),
        fit: redrawn(() => view.fit()),
        turn: redrawn((axis) => {
          view.turn(axis);
          this.log.turn();
          this.built.search.update();
        }),
        go: redrawn((share) => view.go(share)),
        toggle: redrawn((name) => {
          this.show[name] = !this.show[name];
          this.log.change();
        }),
        rows: {
          hide: lined((process) => rows.hide(process)),
          show: lined((process) => rows.show(process)),
          move: lined((process, by) => rows.move(process, by)),
          reset: lined(() => rows.reset()),
        },
        point: (at, reach) => this.point(parts.find.under(this.scene, at.x, at.y, reach) || NOTHING, at),
        press: (at, reach) => this.press(at, reach),
        leave: () => this.point(NOTHING),
        step: (by) => this.tour.step(by),
        choose: () => this.pointed.message >= 0 && this.select(this.pointed.message),
        clear: () => {
          this.select(null);
          this.point(NOTHING);
        },
        mark: (query) => this.tour.markMatches(query),
        goMatch: (by) => this.tour.goMatch(by),
        wrong: () => this.tour.nextWrong(),
        differing: () => this.tour.nextDiffering(),
        describe: () => this.describe(),
        toggleLog: () => this.toggleLog(),
        log: () => this.built.log.click(),
        search: () => this.built.search.field.focus(),
        keys: () => this.built.keys.open(),
      };
    }

    assemble() {
      const { bar, status, stage, overview, legend, text, processes, keys } = this.built;
      const { make } = parts.elements;
      const sentences = this.model.note ? [parts.format.sentence(this.model.note)] : [];
      const note = sentences.map((sentence) => make("p", sentence, "diagram-note"));
      const body = make("div", undefined, "diagram-body");
      body.append(stage.element, this.log.element);
      overview.hidden = this.model.kind.length < WORTH_A_STRIP;
      this.element.classList.add("diagram");
      this.element.classList.toggle("diagram-fill", this.fills);
      this.element.classList.toggle("diagram-with-log", this.show.log);
      this.element.replaceChildren(
        ...[bar, ...note, status.element, processes.hidden, body, overview, legend, text, keys.dialog],
      );
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
      this.select(selected, false);
      this.resize();
      const { signal } = this.ending;
      const { surface } = this.built.stage;
      const isOurs = () => this.fills || document.activeElement === surface;
      const { view, actions } = this;
      parts.input.attach({ surface, overview: this.built.overview, view, actions, isOurs, signal });
      document.addEventListener("themechange", () => this.recolour(), { signal });
      this.printing.attach(signal);
      this.watcher.observe(this.built.stage.element);
      this.draw();
      // The diagram comes first: sorting many events takes a while.
      window.requestAnimationFrame(() => window.setTimeout(() => this.log.render(), 0));
    }

    recolour() {
      this.scene.colours = parts.shapes.palette(this.element, this.printing.isOn);
      this.built.paint(this.scene.colours);
      this.redraw();
    }

    resize() {
      const { element } = this.built.stage;
      const { width, height } = element.getBoundingClientRect();
      if (width < 1 || this.printing.isOn) {
        return; // not visible yet, or drawn for paper
      }
      this.size(width, height);
      this.log.render();
      this.redraw();
    }

    size(width, height) {
      const ctx = this.built.stage.base.getContext("2d");
      this.view.resize(width, height, parts.frame.gutter(ctx, this.model, this.scene.colours, width));
      if (!this.isSeen) {
        this.isSeen = true;
        this.beginView();
      }
    }

    // What matters: all of it, if that can be read; else the chosen message, the first violation, or the
    // beginning.
    beginView() {
      const isAll = this.view.begin();
      const [first] = this.chosen.message < 0 ? [] : this.model.marksAbout.of(this.chosen.message);
      if (first !== undefined) {
        this.view.reveal(first);
      } else if (!isAll && this.model.wrong.size) {
        this.actions.wrong();
      }
    }

    // Hidden or moved processes change the lines, the log and what a search can find.
    relined() {
      const { view, rows } = this;
      view.see(view.low, view.high);
      this.element.classList.toggle("diagram-has-hidden", rows.hidden.size > 0);
      this.built.processes.refresh();
      this.log.change();
      this.built.search.update();
      this.point(NOTHING);
      this.redraw();
    }

    toggleLog() {
      this.show.log = !this.show.log;
      this.element.classList.toggle("diagram-with-log", this.show.log);
      this.resize();
      this.log.follow(this.current);
    }

    redraw() {
      this.frame = this.frame || window.requestAnimationFrame(() => this.draw());
      if (this.show.log) {
        window.clearTimeout(this.settling);
        this.settling = window.setTimeout(() => this.log.near(this.view.low, this.view.high), SETTLED);
      }
    }

    draw() {
      this.frame = 0;
      if (!this.isSeen) {
        return;
      }
      const { scene, view } = this;
      const { stage, overview } = this.built;
      const began = performance.now();
      const ctx = sharp(stage.base, view.width, view.height, this.printing.isOn ? 2 : 1);
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
      const target = this.pointed === NOTHING ? { ...NOTHING, mark: this.current } : this.pointed;
      parts.arrows.pointed(ctx, this.scene, target);
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
      if (target.mark >= 0) {
        this.follow(target.mark);
      }
      this.point(target, at);
    }

    // Makes a mark the current one, here and in the log; -1 for none.
    follow(mark) {
      this.current = mark;
      this.element.dataset.current = mark < 0 ? "" : String(mark);
      this.log.follow(mark);
      this.redraw();
    }

    // Goes to a mark and selects its message.
    pick(mark) {
      if (this.model.message[mark] !== this.chosen.message || this.chosen.message < 0) {
        this.select(this.model.message[mark]);
      }
      this.reveal(mark);
      this.follow(mark);
    }

    // Selects a message by its index; null or -1 for none. `isNews`: whether to report it to others.
    select(message, isNews = true) {
      const { model, order, built: { status } } = this;
      if (message === null || message < 0) {
        this.chosen = { message: -1, past: new Set(), future: new Set() };
        this.scene.classes = null;
        status.show(parts.details.summary(model));
      } else {
        const [past, future] = [order.past(message), order.future(message)];
        this.chosen = { message, past, future };
        this.highlight(past, future, [message]);
        status.selected(parts.details.selection(model, message, past, future));
      }
      this.changed(this.chosen.message < 0 ? -1 : this.firstOf(message), isNews);
    }

    // The class of each message; all others fade.
    highlight(past, future, selected) {
      const classes = new Uint8Array(this.model.messages.sender.length);
      future.forEach((other) => { classes[other] = 2; });
      past.forEach((other) => { classes[other] = 1; });
      selected.forEach((other) => { classes[other] = 3; });
      this.scene.classes = classes;
    }

    // The selection has changed.
    changed(mark, isNews) {
      const { message } = this.chosen;
      this.tour.chain = null;
      this.element.dataset.selected = message < 0 ? "" : String(message);
      this.log.message = message;
      this.follow(mark);
      this.describe();
      this.redraw();
      if (isNews) {
        this.onSelect(message);
      }
    }

    firstOf(message) {
      const [first] = this.model.marksAbout.of(message);
      return this.model.messages.send[message] >= 0 ? this.model.messages.send[message] : first;
    }

    // The table is filled when it is opened.
    describe() {
      const { message } = this.chosen;
      if (!this.built.text.open) {
        return;
      }
      this.built.words.replaceChildren(
        message < 0
          ? parts.elements.make("p", "Choose a message: its events and those of its neighbours are listed here.")
          : parts.details.table(this.model, [message, ...this.order.neighbours(message)]),
      );
    }

    // Moves to a mark, and shows its process if that is hidden.
    reveal(mark) {
      if (!this.rows.has(this.model.process[mark])) {
        this.actions.rows.show(this.model.process[mark]);
      }
      this.view.reveal(mark);
      this.redraw();
    }

    destroy() {
      this.ending.abort();
      this.watcher.disconnect();
      window.cancelAnimationFrame(this.frame);
      window.clearTimeout(this.settling);
      this.element.replaceChildren();
    }
  }

  parts.Diagram = Diagram;
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
