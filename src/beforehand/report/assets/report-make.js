"use strict";
// Helpers of the report: creating elements, reading embedded data, and announcements for screen readers.
const Report = (function () {
  // Creates an element with a class and children; strings become text nodes, never HTML.
  function make(tag, className, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children);
    return element;
  }

  // Untrusted text, isolated because it may run from right to left.
  function isolated(text) {
    return make("bdi", "", text);
  }

  function button(text, press) {
    const element = make("button", "", text);
    element.type = "button";
    element.addEventListener("click", press);
    return element;
  }

  const read = new Map(); // parsed data by name

  function source(name) {
    return document.getElementById(`data-${name}`).textContent;
  }

  // Data is parsed on first use: violations may take megabytes.
  function data(name) {
    if (!read.has(name)) read.set(name, JSON.parse(source(name)));
    return read.get(name);
  }

  // Decompresses embedded data; see violations.py.
  async function unpacked(name) {
    if (!read.has(name)) {
      const bytes = Uint8Array.from(atob(source(name)), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      read.set(name, JSON.parse(await new Response(stream).text()));
    }
    return read.get(name);
  }

  function announce(text) {
    document.getElementById("announcement").textContent = text;
  }

  // Calls `show` once per element, when it approaches the viewport.
  function whenSeen(elements, show) {
    const watcher = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (!entry.isIntersecting) continue;
          watcher.unobserve(entry.target);
          show(entry.target);
        }
      },
      { rootMargin: "400px 0px" },
    );
    for (const element of elements) watcher.observe(element);
  }

  return { make, isolated, button, data, unpacked, announce, whenSeen };
})();
