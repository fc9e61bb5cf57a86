"use strict";
// Descriptions of messages and marks for the tooltip, the status line, and the text table for screen
// readers. All of it becomes text nodes, never HTML.
(function (parts) {
  const { format } = parts;
  const { make } = parts.elements;
  const MOST_RECEIVERS = 6; // in a tooltip
  const MOST_ROWS = 200; // in the table
  const DID = {
    send: "causal-sends",
    release: "releases",
    receive: "receives",
    deliver: "delivers",
    hold: "holds",
    evict: "gives up on",
    start: "starts",
    stop: "stops",
  };

  function heads(table, titles) {
    const row = table.createTHead().insertRow();
    for (const title of titles) {
      const head = make("th", title);
      head.scope = "col";
      row.append(head);
    }
  }

  // The clocks of two processes may disagree, which makes the difference of their times meaningless.
  function after(later, earlier) {
    if (later === undefined || earlier === undefined) {
      return "–";
    }
    if (later === earlier) {
      return "at once";
    }
    return later < earlier ? "clocks disagree" : format.time(later - earlier);
  }

  // When the copy for each receiver of a message was released, received and delivered.
  function journey(model, message) {
    const { marks, messages } = model;
    const byReceiver = new Map((messages.to[message] || []).map((row) => [row, {}]));
    for (const mark of model.marksAbout.of(message)) {
      const kind = model.kindOf(mark);
      const row = kind === "release" ? marks.peer[mark] : marks.process[mark];
      if (!["release", "receive", "deliver"].includes(kind) || row < 0) {
        continue;
      }
      const times = byReceiver.get(row) || byReceiver.set(row, {}).get(row);
      if (!(kind in times)) {
        times[kind] = marks.time[mark];
      }
    }
    return byReceiver;
  }

  function journeyTable(model, message) {
    const sent = model.messages.send[message];
    const start = sent < 0 ? undefined : model.marks.time[sent];
    const rows = [...journey(model, message)];
    const table = make("table");
    heads(table, ["to", "released", "received", "delivered", "waited"]);
    const body = table.createTBody();
    for (const [receiver, times] of rows.slice(0, MOST_RECEIVERS)) {
      const row = body.insertRow();
      row.append(make("td", model.called(receiver, 24)));
      for (const kind of ["release", "receive", "deliver"]) {
        row.append(make("td", after(times[kind], start)));
      }
      row.append(make("td", times.deliver === times.receive ? "–" : after(times.deliver, times.receive)));
    }
    if (rows.length > MOST_RECEIVERS) {
      const cell = make("td", "and " + (rows.length - MOST_RECEIVERS) + " more");
      cell.colSpan = 5;
      body.insertRow().append(cell);
    }
    return table;
  }

  function receivers(model, message) {
    const to = model.messages.to[message];
    if (to === null) {
      return model.messages.send[message] < 0 ? "not known" : "everybody";
    }
    const names = to.slice(0, MOST_RECEIVERS).map((row) => model.called(row, 24));
    return names.join(", ") + (to.length > names.length ? " and " + (to.length - names.length) + " more" : "");
  }

  function short(model, row) {
    return row < 0 ? "an unknown process" : model.called(row);
  }

  // The details of a message, as a list of [label, text].
  function facts(model, message) {
    const { messages, marks } = model;
    const sent = messages.send[message];
    const metas = [...model.marksAbout.of(message)].filter((mark) => model.kindOf(mark) === "release");
    const meta = metas.length ? " and " + format.bytes(marks.meta[metas[0]]) + " of metadata" : "";
    const isShort = model.processes[messages.sender[message]] !== model.labels[messages.sender[message]];
    return [
      ...(isShort ? [["name", model.fullName(message)]] : []),
      ["from", short(model, messages.sender[message])],
      ["to", receivers(model, message)],
      ["size", format.bytes(messages.payload[message]) + meta],
      ["sent", sent < 0 ? "outside of this diagram" : "at " + format.time(marks.time[sent])],
    ];
  }

  // Describes a mark in a sentence.
  function event(model, mark) {
    const kind = model.kindOf(mark);
    const who = short(model, model.process[mark]);
    const peer = model.marks.peer[mark];
    if (kind === "start" || kind === "stop") {
      return who + " " + DID[kind];
    }
    if (kind === "evict") {
      return who + " gives up on " + short(model, peer);
    }
    const name = model.message[mark] < 0 ? "a message" : model.name(model.message[mark]);
    if (kind === "control") {
      return who + ": " + format.clean(detail(model, mark) || "control frame", 40) + " about " + name;
    }
    const whom = kind === "release" && peer >= 0 ? " for " + short(model, peer) : "";
    return who + " " + DID[kind] + " " + name + whom;
  }

  function detail(model, mark) {
    return model.details[model.marks.detail[mark]];
  }

  // The arrow of the hovered control frame, or -1 if only one of its ends is in the diagram.
  function controlArrow(model, { mark, arrow }) {
    const { kind, start, end } = model.arrows;
    const matches = (kind, i) => kind === 2 && (start[i] === mark || end[i] === mark);
    return arrow >= 0 ? arrow : kind.findIndex(matches);
  }

  function control(model, target) {
    const arrow = controlArrow(model, target);
    const mark = arrow < 0 ? target.mark : model.arrows.start[arrow];
    const what = format.clean(detail(model, mark) || "control frame", 40);
    const [who, whom] = [short(model, model.process[mark]), short(model, model.marks.peer[mark])];
    const ends = arrow < 0 ? " between " + who + " and " + whom : " from " + who + " to " + whom;
    const about = model.message[mark] < 0 ? [] : [["about", model.name(model.message[mark])]];
    const arrived = arrow < 0 ? -1 : model.arrows.end[arrow];
    return [make("strong", what + ends), list([
      ...about,
      ["size", format.bytes(model.marks.meta[mark])],
      [arrow < 0 ? "at" : "sent", format.time(model.marks.time[mark])],
      ...(arrow < 0 ? [] : [["arrived", arrived < 0 ? "not seen" : format.time(model.marks.time[arrived])]]),
    ])];
  }

  function isControl(model, { mark, arrow }) {
    return arrow >= 0 ? model.arrows.kind[arrow] === 2 : model.kindOf(mark) === "control";
  }

  function list(pairs) {
    const made = make("dl");
    for (const [what, text] of pairs) {
      made.append(make("dt", what), make("dd", text));
    }
    return made;
  }

  // A mark as a line of the log; `full` has the names as in the trace.
  function logLine(model, mark, full = false) {
    const sentences = (model.wrong.get(mark) || []).map((sentence) => format.clean(sentence, 600));
    const said = model.kindOf(mark) === "control" ? "" : detail(model, mark);
    const parts = [event(model, mark), said && "(" + format.clean(said, full ? 600 : 80) + ")"];
    if (full && model.message[mark] >= 0) {
      parts.push("· " + model.fullName(model.message[mark]) + ", at " + format.precise(model.marks.time[mark]));
    }
    return [...parts, ...(sentences.length ? ["!", ...(full ? sentences : [])] : [])].filter(Boolean).join(" ");
  }

  // Fills the tooltip of the hovered mark or arrow.
  function tooltip(model, target) {
    const made = document.createDocumentFragment();
    const { mark, message } = target;
    if (isControl(model, target)) {
      made.append(...control(model, target));
    } else if (message < 0) {
      made.append(make("strong", event(model, mark)), list([["at", format.time(model.marks.time[mark])]]));
    } else {
      made.append(make("strong", model.name(message)));
      if (mark >= 0) {
        made.append(make("p", event(model, mark) + " at " + format.time(model.marks.time[mark])));
      }
      if (target.others.length) {
        const more = format.count(target.others.length, "other message") + " at the same point: click again";
        made.append(make("p", more, "diagram-note"));
      }
      made.append(list(facts(model, message)), journeyTable(model, message));
    }
    for (const sentence of (mark >= 0 && model.wrong.get(mark)) || []) {
      made.append(make("p", format.clean(sentence, 400), "diagram-wrong"));
    }
    return made;
  }

  // The status line without a selection: counts and a hint.
  function summary(model) {
    const total = model.messages.mid.length;
    const hint = total ? ". Choose a message to see what came before and after." : ".";
    return [
      format.count(model.labels.length, "process"),
      format.count(total, "message"),
      format.count(model.kind.length, "event") + hint,
    ].join(", ");
  }

  // The status line of a selection in four parts: its name, and what is before, after and concurrent.
  function selection(model, message, past, future) {
    const name = model.name(message) + ": ";
    const after = future.size.toLocaleString("en") + " after it";
    if (model.messages.send[message] < 0) {
      return [name, "", format.count(future.size, "message") + " after it", "; its sending is not shown here"];
    }
    const isConcurrent = (other) => other !== message && !past.has(other) && !future.has(other);
    const others = model.messages.send.filter((sent, other) => sent >= 0 && isConcurrent(other)).length;
    const before = format.count(past.size, "message") + " before it";
    return [name, before + ", ", after, ", " + others.toLocaleString("en") + " concurrent"];
  }

  // The order in which a process delivered some messages.
  function delivered(model, process, messages) {
    const isHere = (mark) => model.process[mark] === process && model.kindOf(mark) === "deliver";
    const firsts = messages.map((message) => [message, [...model.marksAbout.of(message)].find(isHere)]);
    const order = firsts.filter(([, mark]) => mark !== undefined).sort(([, a], [, b]) => a - b);
    const names = order.map(([message]) => model.name(message)).join(", then ");
    return names ? "Here, " + short(model, process) + " delivered " + names + "." : "Not delivered here.";
  }

  // All events of some messages, one per row.
  function table(model, messages) {
    const made = make("table");
    heads(made, ["event", "time", "order", "payload", "detail"]);
    const body = made.createTBody();
    const { order } = model.marks;
    const inOrder = (a, b) => order[a] - order[b];
    const marks = messages.flatMap((message) => [...model.marksAbout.of(message)].sort(inOrder));
    for (const mark of marks.slice(0, MOST_ROWS)) {
      const row = body.insertRow();
      const payload = model.marks.payload[mark] ? format.bytes(model.marks.payload[mark]) : "";
      row.append(
        make("td", event(model, mark)),
        make("td", format.time(model.marks.time[mark])),
        make("td", String(model.marks.order[mark])),
        make("td", payload),
        make("td", format.clean(detail(model, mark), 80)),
      );
    }
    if (marks.length > MOST_ROWS) {
      const cell = make("td", "and " + format.count(marks.length - MOST_ROWS, "event") + " more");
      cell.colSpan = 5;
      body.insertRow().append(cell);
    }
    return made;
  }

  parts.details = { delivered, tooltip, logLine, summary, selection, table };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
