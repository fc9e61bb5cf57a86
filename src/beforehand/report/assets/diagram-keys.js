"use strict";
// The list of keys, which a button and the key ? show.
(function (parts) {
  const { make, button } = parts.elements;
  const KEYS = [
    ["← → ↑ ↓", "move the view"],
    ["+ −", "zoom in and out"],
    ["0 or Home", "show all of it"],
    ["N P", "next and previous message"],
    ["Enter", "select that message: its past and future are highlighted"],
    ["V", "next wrong delivery, with the messages that prove it"],
    ["/", "search; there, Enter and Shift+Enter go to the next and previous match"],
    ["L", "show or hide the log; there, ↑ and ↓ go through the events"],
    ["Escape", "end the selection"],
    ["?", "this list"],
  ];
  const MOUSE = [
    ["drag", "move the view"],
    ["wheel or pinch", "zoom"],
    ["click", "select a message; click again for another one at the same point"],
  ];

  function rows(table, pairs) {
    for (const [key, meaning] of pairs) {
      const row = table.insertRow();
      const head = make("th");
      head.scope = "row";
      head.append(make("kbd", key));
      row.append(head, make("td", meaning));
    }
  }

  // A dialog, and a function that opens it.
  function keys() {
    const dialog = make("dialog", undefined, "diagram-keys");
    const table = make("table");
    rows(table, KEYS);
    rows(table, MOUSE);
    dialog.setAttribute("aria-label", "Keys");
    const close = button("Close", "Close the list of keys", () => dialog.close());
    dialog.append(make("p", "Keys work while the diagram has the focus.", "diagram-note"), table, close);
    return { dialog, open: () => dialog.open || dialog.showModal() };
  }

  parts.keys = { keys, KEYS };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
