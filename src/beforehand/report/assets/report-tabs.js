"use strict";
// Tabs that show the rows of one network, or of all. Arrow keys, Home and End move between them.
(function () {
  function select(tab) {
    const list = tab.closest("[role=tablist]");
    const panel = document.getElementById(tab.getAttribute("aria-controls"));
    for (const other of list.children) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
    }
    const all = "networkAll" in tab.dataset;
    panel.setAttribute("aria-labelledby", tab.id);
    panel.classList.toggle("one-network", !all);
    for (const row of panel.querySelectorAll("tbody tr")) {
      row.hidden = !all && row.dataset.network !== tab.dataset.network;
    }
  }

  function move(event) {
    const tabs = Array.from(event.currentTarget.children);
    const current = tabs.indexOf(event.target.closest("[role=tab]"));
    const last = tabs.length - 1;
    const next = {
      ArrowRight: current === last ? 0 : current + 1,
      ArrowLeft: current === 0 ? last : current - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    tabs[next].focus();
    select(tabs[next]);
  }

  for (const list of document.querySelectorAll("[data-tabs]")) {
    list.addEventListener("keydown", move);
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (tab) select(tab);
    });
    select(list.children[0]);
  }
})();
