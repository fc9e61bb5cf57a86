"use strict";
// Search in events. All words of a query must match: the name of a message (alice#3, or #3 of anybody), a
// process, a kind of event, the text of its detail, or "wrong" for what broke a promise.
(function (parts) {
  const { make, button } = parts.elements;
  const DELAY = 120; // milliseconds after the last key until the matches are marked
  const WRONG = "wrong";

  // The indices of names that are equal to a word or, if none is, contain it.
  function named(word, ...lists) {
    for (const fits of [(name) => name === word, (name) => name.includes(word)]) {
      const found = new Set();
      for (const names of lists) {
        names.forEach((name, i) => {
          if (fits(name)) {
            found.add(i);
          }
        });
      }
      if (found.size) {
        return found;
      }
    }
    return new Set();
  }

  function lower(names) {
    return names.map((name) => name.toLowerCase());
  }

  // The messages that a word like alice#3 names.
  function messagesOf(model, word) {
    const cut = word.lastIndexOf("#");
    const mid = word.slice(cut + 1);
    const senders = cut > 0 ? named(word.slice(0, cut), lower(model.processes), lower(model.labels)) : null;
    const found = new Set();
    model.messages.mid.forEach((number, message) => {
      if (String(number) === mid && (!senders || senders.has(model.messages.sender[message]))) {
        found.add(message);
      }
    });
    return found;
  }

  // Whether an event matches one word.
  function matcher(model, word) {
    const { marks } = model;
    if (word.includes("#")) {
      const messages = messagesOf(model, word);
      return (mark) => messages.has(model.message[mark]);
    }
    const processes = named(word, lower(model.processes), lower(model.labels));
    const kinds = named(word, lower(model.kinds));
    const details = named(word, lower(model.details));
    return (mark) =>
      processes.has(model.process[mark]) || kinds.has(model.kind[mark]) ||
      (model.details[marks.detail[mark]] && details.has(marks.detail[mark])) ||
      (word === WRONG && model.wrong.has(mark));
  }

  // The events that match a query, by position on the axis; `rows` excludes hidden processes.
  function matches(model, rows, at, query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) {
      return [];
    }
    // A process or a message may have spaces in its name.
    const whole = query.trim().toLowerCase();
    const tests = lower(model.labels).includes(whole) || lower(model.processes).includes(whole)
      ? [matcher(model, whole)]
      : words.map((word) => matcher(model, word));
    const found = [];
    for (let mark = 0; mark < model.kind.length; mark += 1) {
      if (rows.has(model.process[mark]) && tests.every((test) => test(mark))) {
        found.push(mark);
      }
    }
    return found.sort((a, b) => at[a] - at[b] || a - b);
  }

  // The field, the buttons and the count. `mark` marks the matches of a query and returns their number;
  // `go` goes to the next (1) or previous (-1) one and returns its index.
  function box(model, { mark, go }) {
    const made = make("div", undefined, "diagram-search");
    made.setAttribute("role", "search");
    const field = make("input");
    const count = make("output");
    const example = model.messages.mid.length ? model.name(0, 12) : "deliver";
    field.type = "search";
    field.placeholder = "find " + example;
    field.setAttribute("aria-label", "Find events by message, such as " + example + ", process, kind or detail");
    let [timer, marked] = [0, ""];

    function update() {
      window.clearTimeout(timer);
      marked = field.value;
      const total = mark(field.value);
      made.classList.toggle("diagram-found", total > 0);
      count.textContent = field.value.trim() ? parts.format.count(total, "match") : "";
      return total;
    }

    function step(by) {
      const total = marked === field.value ? mark(field.value) : update();
      const index = total ? go(by) : -1;
      count.textContent = !field.value.trim() ? "" : total ? `${(index + 1).toLocaleString("en")} of ${total.toLocaleString("en")}` : "no match";
      made.classList.toggle("diagram-found", total > 0);
    }

    field.addEventListener("input", () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(update, DELAY);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        step(event.shiftKey ? -1 : 1);
      }
    });
    made.append(
      field,
      parts.elements.group("Matches",
        button("‹", "Previous match", () => step(-1)),
        button("›", "Next match", () => step(1))),
      count,
    );
    return { element: made, field, update };
  }

  parts.search = { matches, box };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
