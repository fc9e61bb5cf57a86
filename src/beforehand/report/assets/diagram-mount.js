"use strict";
// An interactive space-time diagram: BeforehandDiagram.mount(element, data, options) draws the output of
// `columns` in Python into an element and returns a handle. Options: `fill` uses the full height of the
// element, which otherwise is as high as its processes need; `log` opens the log at first (the default on a
// wide page that is one diagram); `onSelect` is called with the index of each message that is selected, and
// `onChain` with the messages and the process of a violation that is shown.
(function (parts) {
  // The handle for scripts and tests.
  function mount(element, data, options = {}) {
    const diagram = new parts.Diagram(element, data, options);
    const { view, scene } = diagram;
    return {
      select: (message) => diagram.select(message),
      // Selects a message that was selected elsewhere, and moves to it.
      mirror(message) {
        diagram.select(message, false);
        if (message >= 0) {
          diagram.reveal(diagram.current);
        }
      },
      // The violation that is shown, or null; and the same messages as one that is shown elsewhere.
      chain: () => diagram.tour.chain,
      mirrorChain({ messages, process }) {
        diagram.select(null, false);
        diagram.tour.showChain(messages, process);
        diagram.built.status.show(parts.details.delivered(diagram.model, process, [messages[0], messages[messages.length - 1]]));
      },
      labels: () => diagram.model.labels,
      // The names of all messages, by index.
      names: () => Array.from(diagram.model.messages.mid, (mid, i) => diagram.model.labels[diagram.model.messages.sender[i]] + "#" + mid),
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
        const box = diagram.built.stage.base.getBoundingClientRect();
        const { x, y } = parts.layout.where(scene, mark);
        const scale = box.width / view.width; // not 1 on paper
        return { x: box.left + x * scale, y: box.top + y * scale };
      },
      stats: () => diagram.stats,
      destroy: () => diagram.destroy(),
    };
  }

  parts.mount = mount;
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
