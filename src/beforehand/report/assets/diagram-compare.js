"use strict";
// Two diagrams on one page: a message or a violation that is selected in one is selected in the other. It is
// the same message if it has the same sender, by its label, and the same number.
document.addEventListener("DOMContentLoaded", () => {
  const ids = ["left", "right"];
  const sides = {};

  // The same message in the other diagram; -1 if it isn't there.
  function same(from, to, message) {
    const found = message < 0 ? undefined : to.index.get(from.names[message]);
    return found === undefined ? -1 : found;
  }

  function mirror(id, other, message) {
    if (sides[other]) {
      sides[other].diagram.mirror(same(sides[id], sides[other], message));
    }
  }

  function mirrorChain(id, other, chain) {
    const [from, to] = [sides[id], sides[other]];
    if (!from || !to || !chain) {
      return;
    }
    const messages = chain.messages.map((message) => same(from, to, message));
    const process = to.diagram.labels().indexOf(from.diagram.labels()[chain.process]);
    if (process >= 0 && !messages.includes(-1)) {
      to.diagram.mirrorChain({ messages, process });
    }
  }

  ids.forEach((id, i) => {
    const other = ids[1 - i];
    const data = JSON.parse(document.getElementById(id + "-data").textContent);
    const diagram = window.BeforehandDiagram.mount(document.getElementById(id), data, {
      fill: true,
      log: false,
      onSelect: (message) => mirror(id, other, message),
      onChain: (chain) => mirrorChain(id, other, chain),
    });
    const names = diagram.names();
    sides[id] = { diagram, names, index: new Map(names.map((name, message) => [name, message])) };
  });
  // The violation that a diagram begins with was shown before there was another one.
  const first = ids.find((id) => sides[id].diagram.chain());
  if (first) {
    mirrorChain(first, ids[1 - ids.indexOf(first)], sides[first].diagram.chain());
  }
  window.diagrams = ids.map((id) => sides[id].diagram);
});
