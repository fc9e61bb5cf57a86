"use strict";
// Violations: since there may be thousands, lists are created when a run is opened, and diagrams when a
// violation is. Paper has the first few of each run.
(function () {
  const { make, isolated, button, data, unpacked, announce } = Report;
  const AT_ONCE = 50; // more would make the page slow
  const LONG = 800; // characters, above which a sentence gets a box of its own to scroll in
  const mounted = new WeakMap(); // element -> its diagram
  const filter = document.getElementById("kind");

  function label(violation) {
    const sentence = isolated(violation.short);
    if (violation.short.length > LONG) sentence.className = "clamped";
    // The sentence with the full names of processes, if they were shortened.
    if (violation.short !== violation.sentence) sentence.title = violation.sentence;
    return [make("span", "kind", violation.kind), sentence];
  }

  function item(violation) {
    if (!violation.diagram) return make("p", "violation", ...label(violation));
    const canvas = make("div", "diagram");
    const details = make("details", "violation", make("summary", "", ...label(violation)), canvas);
    details.addEventListener("toggle", () => {
      if (details.open) mounted.set(canvas, BeforehandDiagram.mount(canvas, violation.diagram));
      else if (mounted.has(canvas)) mounted.get(canvas).destroy();
    });
    return details;
  }

  function wanted(all, group) {
    const own = all[Number(group.dataset.group)];
    return filter.value ? own.filter(({ kind }) => kind === filter.value) : own;
  }

  function fill(group, violations) {
    const list = group.querySelector(".list");
    let shown = 0;
    function more() {
      const next = violations.slice(shown, shown + AT_ONCE).map(item);
      shown += next.length;
      list.append(...next);
      const left = violations.length - shown;
      if (left) {
        const text = `Show ${Math.min(left, AT_ONCE)} more of ${left.toLocaleString("en")}`;
        const again = button(text, () => {
          const first = list.childElementCount - 1; // the position of the button
          again.remove();
          more();
          announce(`${shown} violations shown`);
          list.children[first].querySelector("summary")?.focus();
        });
        list.append(again);
      }
    }
    list.replaceChildren();
    more();
  }

  // Applies the filter. A run without violations of this kind is hidden.
  async function refresh(groups) {
    const all = await unpacked("violations");
    for (const group of groups) {
      const violations = wanted(all, group);
      group.hidden = violations.length === 0;
      group.querySelector(".list").replaceChildren();
      if (group.open) fill(group, violations);
    }
  }

  const groups = document.querySelectorAll("[data-group]");
  for (const group of groups) {
    group.addEventListener("toggle", () => {
      if (group.open && !group.querySelector(".list").childElementCount) refresh([group]);
    });
  }
  if (filter) filter.addEventListener("change", () => refresh(groups));

  // ---- printing ----

  let printed = []; // [element, its diagram] while the page is being printed

  addEventListener("beforeprint", () => {
    if (printed.length) return;
    for (const list of document.querySelectorAll("[data-printed]")) {
      data("printed")[Number(list.dataset.printed)].forEach((diagram, index) => {
        if (!diagram) return;
        const canvas = make("div", "diagram");
        list.children[index].append(canvas);
        printed.push([canvas, BeforehandDiagram.mount(canvas, diagram)]);
      });
    }
  });
  addEventListener("afterprint", () => {
    for (const [canvas, diagram] of printed) {
      diagram.destroy();
      canvas.remove();
    }
    printed = [];
  });
})();
