"use strict";
// Elements of the page, made from text and never from HTML.
(function (parts) {
  function make(tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined) {
      element.textContent = text;
    }
    if (className) {
      element.className = className;
    }
    return element;
  }

  function button(text, label, action) {
    const made = make("button", text);
    made.type = "button";
    made.setAttribute("aria-label", label);
    made.title = label;
    made.addEventListener("click", action);
    return made;
  }

  // A button that is on or off.
  function toggle(text, label, isOn, action) {
    const made = button(text, label, () => {
      action();
      made.setAttribute("aria-pressed", String(isOn()));
    });
    made.setAttribute("aria-pressed", String(isOn()));
    return made;
  }

  function group(label, ...members) {
    const made = make("div", undefined, "diagram-group");
    made.setAttribute("role", "group");
    made.setAttribute("aria-label", label);
    made.append(...members);
    return made;
  }

  parts.elements = { make, button, toggle, group };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
