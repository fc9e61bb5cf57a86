"use strict";
// Small helpers of the report: elements from text, data from the page, and words for those who listen.
const Report = (function () {
  // An element with a class and children; text is only ever text.
  function make(tag, className, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children);
    return element;
  }

  // Text from names and files: it may run from right to left.
  function isolated(text) {
    return make("bdi", "", text);
  }

  function button(text, press) {
    const element = make("button", "", text);
    element.type = "button";
    element.addEventListener("click", press);
    return element;
  }

  const read = new Map(); // data that was read, by name

  function source(name) {
    return document.getElementById(`data-${name}`).textContent;
  }

  // Data is read when it is first needed: violations may be megabytes.
  function data(name) {
    if (!read.has(name)) read.set(name, JSON.parse(source(name)));
    return read.get(name);
  }

  // What was compressed, undone; see violations.py.
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

  // Calls `show` once for each element, when it comes near the window.
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
