"use strict";
// The rest of the report: copying commands, the table of contents, diagrams of clusters, and printing.
(function () {
  const { data, announce, whenSeen } = Report;
  const PAPER = 320; // width of a chart in pixels, so that two fit side by side on a page

  // ---- copying ----

  async function copy(button) {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      copyOldWay(code); // some browsers deny clipboard access to local files
    }
    button.textContent = "Copied";
    announce("Copied");
    setTimeout(() => (button.textContent = "Copy"), 1500);
  }

  function copyOldWay(code) {
    const range = document.createRange();
    range.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });

  // ---- table of contents ----

  const links = Array.from(document.querySelectorAll(".contents a"));
  const sections = Array.from(document.querySelectorAll("main > section, main > .section"));
  const menu = document.getElementById("menu");

  function mark() {
    // The last section that begins above the upper third of the window.
    const seen = sections.filter((section) => section.getBoundingClientRect().top < innerHeight / 3);
    const current = seen.length ? seen[seen.length - 1].id : "headline";
    for (const link of links) {
      const here = link.hash === (current === "headline" ? "#main" : `#${current}`);
      if (here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  let waiting = false;
  addEventListener(
    "scroll",
    () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();

  document.addEventListener("click", (event) => {
    // The menu closes when an entry is chosen or anything else is pressed.
    if (event.target.closest(".menu a") || !event.target.closest(".menu")) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });

  // ---- diagrams ----

  const diagrams = document.querySelectorAll("[data-diagram]");

  function mountDiagram(element) {
    if (!element.childElementCount) {
      BeforehandDiagram.mount(element, data("diagrams")[element.dataset.diagram]);
    }
  }

  whenSeen(diagrams, mountDiagram);

  // ---- printing ----

  let before = null; // the state of the page to restore after printing

  addEventListener("beforeprint", () => {
    if (before) return;
    const opened = Array.from(document.querySelectorAll("details[data-print]:not([open])"));
    before = { theme: document.documentElement.dataset.theme, opened };
    for (const details of opened) details.open = true;
    document.documentElement.dataset.theme = "light";
    diagrams.forEach(mountDiagram); // those that nobody has scrolled to
    Report.drawAll(PAPER);
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    for (const details of before.opened) details.open = false;
    document.documentElement.dataset.theme = before.theme;
    before = null;
    Report.drawAll();
    document.dispatchEvent(new CustomEvent("themechange"));
  });
})();
