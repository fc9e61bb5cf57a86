"use strict";
// A page with a single diagram. Its handle is available in the console.
document.addEventListener("DOMContentLoaded", () => {
  const data = JSON.parse(document.getElementById("diagram-data").textContent);
  const element = document.getElementById("diagram");
  window.diagram = window.BeforehandDiagram.mount(element, data, { fill: true });
});
