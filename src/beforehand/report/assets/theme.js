"use strict";
// The light or dark theme: that of the system, until a button with data-theme-switch is pressed.
// Scripts that draw with colours listen for "themechange" on the document and read the CSS variables.
(function () {
  const root = document.documentElement;
  const wish = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;

  function remembered() {
    try {
      return window.localStorage.getItem("beforehand-theme");
    } catch {
      return null; // some browsers deny storage to local files
    }
  }

  function remember(theme) {
    try {
      window.localStorage.setItem("beforehand-theme", theme);
    } catch {
      // then the choice lasts for this page only
    }
  }

  function apply() {
    root.dataset.theme = chosen || (wish.matches ? "dark" : "light");
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      button.setAttribute("aria-pressed", String(root.dataset.theme === "dark"));
    }
    document.dispatchEvent(new CustomEvent("themechange"));
  }

  chosen = remembered();
  apply();
  wish.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      button.addEventListener("click", () => {
        chosen = root.dataset.theme === "dark" ? "light" : "dark";
        remember(chosen);
        apply();
      });
    }
  });
})();
