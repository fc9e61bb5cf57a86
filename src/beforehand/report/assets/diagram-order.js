"use strict";
// Happens-before between the messages of a diagram. A message is known to its sender from its
// causal-send on, and to a receiver from its delivery on; it happens before everything that is
// causal-sent there afterwards. No other events matter.
//
// If a search reaches an event of a process, it reaches all later (or earlier) events of that process.
// So it is enough to remember one event per process, and a search visits each event once.
(function (parts) {
  function ordered(model) {
    const [send, deliver] = ["send", "deliver"].map((kind) => model.kinds.indexOf(kind));
    const counts = (mark) => model.message[mark] >= 0 && [send, deliver].includes(model.kind[mark]);
    const events = model.labels.map((_, row) => model.marksOf.of(row).filter(counts));
    const position = new Int32Array(model.kind.length).fill(-1);
    for (const row of events) {
      row.forEach((mark, i) => {
        position[mark] = i;
      });
    }

    // The messages m with m -> message.
    function past(message) {
      const causes = new Set();
      const seen = new Int32Array(events.length); // per process: this many first events are reached
      const queue = [message];
      while (queue.length) {
        const sent = model.messages.send[queue.pop()];
        if (sent < 0) {
          continue; // its causal-send isn't in the diagram
        }
        const row = model.process[sent];
        for (; seen[row] < position[sent]; seen[row] += 1) {
          const known = model.message[events[row][seen[row]]];
          if (!causes.has(known)) {
            causes.add(known);
            queue.push(known);
          }
        }
      }
      return causes;
    }

    // The messages m with message -> m.
    function future(message) {
      const effects = new Set();
      const seen = events.map((row) => row.length); // per process: the events from this index on are reached
      const queue = [message];
      while (queue.length) {
        for (const known of model.marksAbout.of(queue.pop()).filter((mark) => position[mark] >= 0)) {
          const row = model.process[known];
          for (; seen[row] > position[known] + 1; seen[row] -= 1) {
            const later = events[row][seen[row] - 1];
            const following = model.message[later];
            if (model.kind[later] === send && !effects.has(following)) {
              effects.add(following);
              queue.push(following);
            }
          }
        }
      }
      return effects;
    }

    // The sender's last event before a message, and the next sends of the processes that know it.
    function neighbours(message) {
      const sent = model.messages.send[message];
      const before = sent < 0 || position[sent] === 0 ? [] : [events[model.process[sent]][position[sent] - 1]];
      const after = [];
      for (const known of model.marksAbout.of(message).filter((mark) => position[mark] >= 0)) {
        const later = events[model.process[known]].subarray(position[known] + 1);
        const next = later.find((mark) => model.kind[mark] === send);
        if (next !== undefined) {
          after.push(next);
        }
      }
      const others = [...before, ...after].map((mark) => model.message[mark]);
      return [...new Set(others)].filter((other) => other !== message);
    }

    return { past, future, neighbours };
  }

  parts.order = { ordered };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
