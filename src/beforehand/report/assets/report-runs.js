"use strict";
// Cards of runs: filled when they are opened, and opened by links.
(function () {
  const { make, isolated, data } = Report;

  function figures(card) {
    const { names } = data("runs");
    const body = make("tbody", "");
    for (const [index, raw, shown] of card.figures) {
      const [name, title, meaning] = names[index];
      const head = make("th", "", isolated(title));
      head.scope = "row";
      head.title = name;
      Object.assign(head.dataset, { column: "figure", value: name });
      const value = make("td", "number", isolated(shown));
      value.title = raw;
      Object.assign(value.dataset, { column: "value", value: raw });
      if (raw === "") value.dataset.missing = "";
      const explanation = make("td", "meaning", meaning);
      Object.assign(explanation.dataset, { column: "meaning", value: meaning });
      body.append(make("tr", "", head, value, explanation));
    }
    const table = make("table", "", heads(), body);
    table.dataset.table = card.table;
    return table;
  }

  function heads() {
    const row = make("tr", "");
    for (const [name, kind] of [["figure", "text"], ["value", "number"], ["meaning", "text"]]) {
      const sorter = make("button", "", name);
      sorter.type = "button";
      sorter.dataset.sort = "";
      const head = make("th", kind === "number" ? "number" : "", sorter);
      head.scope = "col";
      Object.assign(head.dataset, { column: name, kind });
      head.setAttribute("aria-sort", "none");
      row.append(head);
    }
    return make("thead", "", row);
  }

  function fill(details) {
    const rest = details.querySelector(".rest");
    if (rest.childElementCount) return;
    const card = data("runs").runs[details.dataset.run];
    const saver = make("button", "small", "Save as CSV");
    saver.type = "button";
    saver.dataset.save = card.table;
    const scroll = make("div", "scroll", figures(card));
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "All figures of this run");
    const caption = make("figcaption", "", make("span", "title", "All figures"), saver);
    rest.append(
      make("figure", "table", caption, scroll),
      make("p", "label", "Scenario"),
      make("pre", "", isolated(card.scenario)),
    );
  }

  // A link or a URL fragment that refers to a closed element opens it.
  function openTarget() {
    const target = document.getElementById(location.hash.slice(1));
    const details = target && target.closest("details");
    if (!details || details.id === "menu") return;
    if (details.matches(".run")) fill(details);
    for (let outer = details; outer; outer = outer.parentElement.closest("details")) outer.open = true;
    target.scrollIntoView();
    details.querySelector("summary").focus({ preventScroll: true });
  }

  // "toggle" doesn't bubble, so it is handled in the capture phase.
  document.addEventListener(
    "toggle",
    (event) => {
      if (event.target.matches("details.run[open]")) fill(event.target);
    },
    true,
  );
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    // Following the same link twice doesn't change the URL, but must still open its target.
    if (link && link.getAttribute("href") === location.hash) openTarget();
  });
  window.addEventListener("hashchange", openTarget);
  openTarget();
})();
