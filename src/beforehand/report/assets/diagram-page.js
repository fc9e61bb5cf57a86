"use strict";
// A page that is one diagram. The handle is there for those who open the console.
document.addEventListener("DOMContentLoaded", () => {
  const data = JSON.parse(document.getElementById("diagram-data").textContent);
  const element = document.getElementById("diagram");
  window.diagram = window.BeforehandDiagram.mount(element, data, { fill: true });
});
