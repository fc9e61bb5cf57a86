"use strict";
// The log next to a diagram: its events as lines of text, in the order of the axis. Only the lines in view
// exist as elements, so the number of events does not matter.
(function (parts) {
  const { make } = parts.elements;
  const LINE = 24; // height of a line, in pixels; also in diagram.css
  const SPARE = 6; // lines above and below those in view
  let counted = 0; // makes ids unique if a page has several logs

  class Log {
    // `actions`: pick(mark) when a line is chosen.
    constructor(model, rows, view, show, actions) {
      Object.assign(this, { model, rows, view, show, actions });
      this.marks = new Int32Array(0); // in the order of lines
      this.lineOf = new Int32Array(model.kind.length).fill(-1);
      this.current = -1; // the chosen mark
      this.message = -1; // the selected message
      this.matches = null; // whether each mark is a match of the search
      this.isStale = true;
      this.pool = [];
      counted += 1;
      this.prefix = "diagram-line-" + counted + "-";
      this.element = make("div", undefined, "diagram-log");
      this.list = make("div", undefined, "diagram-lines");
      this.space = make("div");
      this.element.append(this.list);
      this.list.append(this.space);
      this.list.tabIndex = 0;
      this.list.setAttribute("role", "listbox");
      this.list.setAttribute("aria-label", "Log of events");
      this.list.addEventListener("scroll", () => this.render());
      this.list.addEventListener("keydown", (event) => this.key(event));
      this.list.addEventListener("click", (event) => {
        const line = event.target.closest("[data-mark]");
        if (line) {
          this.actions.pick(Number(line.dataset.mark));
        }
      });
    }

    // The lines have changed; they are made when they are needed.
    change() {
      this.isStale = true;
      this.render();
    }

    collect() {
      const { model, rows, show } = this;
      const { at } = this.view.index();
      const control = model.kinds.indexOf("control");
      const shown = Int32Array.from(model.kind.keys()).filter(
        (mark) => rows.has(model.process[mark]) && (show.controls || model.kind[mark] !== control),
      );
      const { order } = model.marks;
      this.marks = shown.sort((a, b) => at[a] - at[b] || order[a] - order[b] || a - b);
      this.lineOf.fill(-1);
      this.marks.forEach((mark, line) => {
        this.lineOf[mark] = line;
      });
      this.space.style.height = this.marks.length * LINE + "px";
      this.isStale = false;
    }

    // Draws the lines in view.
    render() {
      if (!this.list.clientHeight) {
        return; // closed
      }
      if (this.isStale) {
        this.collect();
      }
      const first = Math.max(0, Math.floor(this.list.scrollTop / LINE) - SPARE);
      const end = Math.min(this.marks.length, Math.ceil((this.list.scrollTop + this.list.clientHeight) / LINE) + SPARE);
      while (this.pool.length < end - first) {
        const line = make("div", undefined, "diagram-line");
        line.setAttribute("role", "option");
        line.append(make("span"), make("span"));
        this.pool.push(line);
        this.space.append(line);
      }
      this.pool.forEach((line, i) => {
        const index = first + i;
        line.hidden = index >= end;
        if (line.hidden) {
          line.removeAttribute("id");
          line.dataset.mark = "";
        } else {
          this.fill(line, index);
        }
      });
    }

    fill(line, index) {
      const mark = this.marks[index];
      const { model } = this;
      const isCurrent = mark === this.current;
      if (line.dataset.mark !== String(mark)) {
        const [when, what] = line.children;
        when.textContent = this.view.axis === "time" ? parts.format.precise(model.marks.time[mark]) : String(model.marks.order[mark]);
        what.textContent = parts.details.logLine(model, mark);
        line.title = parts.details.logLine(model, mark, true);
        line.dataset.mark = String(mark);
        line.id = this.prefix + mark;
      }
      line.style.top = index * LINE + "px";
      line.classList.toggle("current", isCurrent);
      line.classList.toggle("about", this.message >= 0 && model.message[mark] === this.message);
      line.classList.toggle("match", Boolean(this.matches && this.matches[mark]));
      line.classList.toggle("wrong", model.wrong.has(mark));
      line.classList.toggle("differs", model.differs.has(mark));
      line.setAttribute("aria-selected", String(isCurrent));
      line.setAttribute("aria-posinset", String(index + 1));
      line.setAttribute("aria-setsize", String(this.marks.length));
    }

    // The texts of lines depend on the axis.
    turn() {
      for (const line of this.pool) {
        line.dataset.mark = "";
      }
      this.change();
      this.follow(this.current);
    }

    // Marks a line as current and scrolls to it; -1 for none.
    follow(mark) {
      this.current = mark;
      this.render();
      const line = mark < 0 ? -1 : this.lineOf[mark];
      if (line >= 0 && this.list.clientHeight) {
        const [top, room] = [line * LINE, this.list.clientHeight];
        if (top < this.list.scrollTop || top + LINE > this.list.scrollTop + room) {
          this.list.scrollTop = top - room / 2 + LINE;
        }
        this.render();
        this.list.setAttribute("aria-activedescendant", this.prefix + mark);
      } else {
        this.list.removeAttribute("aria-activedescendant");
      }
    }

    // Scrolls to the part of the axis that is in view, unless a line of it is in view here.
    near(low, high) {
      if (this.isStale || !this.list.clientHeight || !this.marks.length) {
        return;
      }
      const { at } = this.view.index();
      const lines = [this.list.scrollTop, this.list.scrollTop + this.list.clientHeight].map((top) =>
        at[this.marks[Math.min(Math.max(0, Math.floor(top / LINE)), this.marks.length - 1)]]);
      if (lines[0] > high || lines[1] < low) {
        this.list.scrollTop = parts.model.firstFrom(this.marks, at, low) * LINE;
      }
    }

    key(event) {
      const last = this.marks.length - 1;
      const now = this.current < 0 ? -1 : this.lineOf[this.current];
      const page = Math.max(1, Math.floor(this.list.clientHeight / LINE) - 1);
      const lines = {
        ArrowDown: now + 1,
        ArrowUp: now - 1,
        PageDown: now + page,
        PageUp: now - page,
        Home: 0,
        End: last,
      };
      if (event.key in lines && last >= 0) {
        event.preventDefault();
        this.actions.pick(this.marks[Math.min(Math.max(lines[event.key], 0), last)]);
      }
    }
  }

  parts.log = { Log };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
