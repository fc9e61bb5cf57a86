"use strict";
// Goes through a diagram: from match to match of a search, from one wrong delivery to the next, and from
// message to message.
(function (parts) {
  const { NOTHING } = parts.find;

  class Tour {
    constructor(diagram) {
      this.diagram = diagram;
      this.found = { marks: [], at: -1 }; // what the search has found, and the index of the current one
      this.chain = null; // { messages, process } of the violation that is shown
      this.visited = { wrong: -1, differs: -1 }; // indices of the last ones that were visited
    }

    // Marks what a search finds; returns the number of events.
    markMatches(query) {
      const { model, scene, rows, view, log } = this.diagram;
      const marks = parts.search.matches(model, rows, view.index().at, query);
      const isSame = marks.length === this.found.marks.length && marks.every((mark, i) => mark === this.found.marks[i]);
      if (!isSame) {
        this.found = { marks, at: -1 };
        scene.matches = marks.length ? new Uint8Array(model.kind.length) : null;
        marks.forEach((mark) => { scene.matches[mark] = 1; });
        log.matches = scene.matches;
        log.render();
        this.diagram.redraw();
      }
      return marks.length;
    }

    goMatch(by) {
      const { marks, at } = this.found;
      this.found.at = at < 0 && by < 0 ? marks.length - 1 : (at + by + marks.length) % marks.length;
      this.diagram.pick(marks[this.found.at]);
      return this.found.at;
    }

    nextWrong() {
      this.next("wrong", [...this.diagram.model.wrong.keys()], (mark) => this.focusWrong(mark));
    }

    nextDiffering() {
      this.next("differs", [...this.diagram.model.differs], (mark) => this.diagram.pick(mark));
    }

    // Visits the next of some marks, from left to right.
    next(kind, marks, visit) {
      if (!marks.length) {
        return;
      }
      const { at } = this.diagram.view.index();
      marks.sort((a, b) => at[a] - at[b]);
      this.visited[kind] = (this.visited[kind] + 1) % marks.length;
      visit(marks[this.visited[kind]]);
    }

    // Shows a wrong delivery with the messages that prove it.
    focusWrong(mark) {
      const { diagram, diagram: { model } } = this;
      const chain = model.chains.get(mark);
      diagram.select(chain.length ? null : model.message[mark]);
      if (chain.length) {
        this.showChain(chain, model.process[mark]);
        diagram.onChain(this.chain);
      }
      diagram.reveal(mark);
      diagram.follow(mark);
      diagram.built.status.show(model.wrong.get(mark).map(parts.format.sentence).join(" "));
    }

    // Highlights the messages of a chain: the late one in the colour of the past, and the one that came too
    // early in that of the future. Moves to where they were sent, and delivered at a process.
    showChain(chain, process) {
      const { diagram, diagram: { model } } = this;
      const [late, early] = [chain[0], chain[chain.length - 1]];
      diagram.highlight([late], [early], chain.slice(1, -1));
      const delivers = [late, early].flatMap((message) => [...model.marksAbout.of(message)].filter(
        (mark) => model.process[mark] === process && model.kindOf(mark) === "deliver"));
      diagram.view.focus([...chain.map((message) => diagram.firstOf(message)), ...delivers]);
      this.chain = { messages: chain, process };
      diagram.redraw();
    }

    // Hovers the next or the previous message, in the order of their causal-sends along the axis.
    step(by) {
      const { diagram, diagram: { model, view } } = this;
      const { at } = view.index();
      const isSeen = (mark) => mark >= 0 && diagram.rows.has(model.process[mark]);
      const sends = model.messages.send.filter(isSeen).sort((a, b) => at[a] - at[b] || a - b);
      if (!sends.length) {
        return;
      }
      const now = diagram.pointed.message >= 0 ? diagram.pointed.message : diagram.chosen.message;
      const current = now < 0 ? (by < 0 ? 0 : -1) : sends.indexOf(model.messages.send[now]);
      const mark = sends[(current + by + sends.length) % sends.length];
      diagram.reveal(mark);
      const message = model.message[mark];
      diagram.point({ ...NOTHING, mark, message }, parts.layout.where(diagram.scene, mark));
      diagram.log.follow(mark);
      diagram.built.status.show(model.name(message) + ". Press Enter to select it.");
    }
  }

  parts.tour = { Tour };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
