"use strict";
// The menu of processes: a checkbox to hide or show each, and buttons to move it up or down. Hidden
// processes are also listed next to the diagram, with a button that shows them again.
(function (parts) {
  const { make, button } = parts.elements;
  const MOST_NAMED = 8; // hidden processes that have a button of their own

  function entry(model, rows, process, actions) {
    const made = make("li");
    const name = parts.format.clean(model.labels[process], 60);
    const label = make("label");
    const box = make("input");
    box.type = "checkbox";
    box.checked = rows.has(process);
    // The last line stays: a diagram without lines would show nothing.
    box.disabled = box.checked && rows.shown.length === 1;
    box.addEventListener("change", () => (box.checked ? actions.show : actions.hide)(process));
    label.title = parts.format.clean(model.processes[process]);
    label.append(box, make("bdi", name));
    const up = button("↑", "Move " + name + " up", () => actions.move(process, -1));
    const down = button("↓", "Move " + name + " down", () => actions.move(process, 1));
    up.disabled = rows.place[process] === 0;
    down.disabled = rows.place[process] === rows.order.length - 1;
    made.append(label, up, down);
    made.dataset.process = String(process);
    return made;
  }

  // The menu and the line of hidden processes; `refresh` follows what has changed.
  function processes(model, rows, actions) {
    const menu = make("details", undefined, "diagram-processes");
    const list = make("ul");
    const everything = button("Show all, in the first order", "Show all processes, in the first order", actions.reset);
    const panel = make("div", undefined, "diagram-menu");
    panel.append(list, everything);
    menu.append(make("summary", "Processes"), panel);
    const hidden = make("p", undefined, "diagram-hidden");
    hidden.hidden = true;
    menu.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && menu.open) {
        event.stopPropagation();
        menu.open = false;
        menu.querySelector("summary").focus();
      }
    });
    menu.addEventListener("toggle", () => refresh());

    function refreshMenu() {
      // The focus stays on the same control, although the list is made anew.
      const focused = document.activeElement;
      const item = focused && list.contains(focused) ? focused.closest("li") : null;
      const position = item ? [...item.querySelectorAll("input, button")].indexOf(focused) : -1;
      list.replaceChildren(...rows.order.map((process) => entry(model, rows, process, actions)));
      if (item) {
        const controls = list.querySelector(`[data-process="${item.dataset.process}"]`).querySelectorAll("input, button");
        const wanted = controls[position];
        (wanted.disabled ? controls[0] : wanted).focus();
      }
    }

    function refresh() {
      if (menu.open) {
        refreshMenu();
      }
      const names = [...rows.hidden].sort((a, b) => rows.place[a] - rows.place[b]);
      hidden.hidden = !names.length;
      const some = names.slice(0, MOST_NAMED).map((process) => {
        const name = parts.format.clean(model.labels[process], 24);
        return button(name, "Show " + name + " again", () => actions.show(process));
      });
      const more = names.length > MOST_NAMED ? ["and " + (names.length - MOST_NAMED) + " more"] : [];
      hidden.replaceChildren(...(names.length ? ["Hidden: ", ...some, ...more] : []));
    }

    return { menu, hidden, refresh };
  }

  parts.processes = { processes };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
