"use strict";
// The columns of a diagram as arrays with fast lookups.
(function (parts) {
  const BLOCK = 64; // intervals that are skipped together if none of them reaches far enough
  const LANES = 3; // parallel bars; beyond that, some overlap

  // Groups items by their owner, 0 to `count` - 1, in one array: those of i are items[starts[i]] to
  // items[starts[i + 1] - 1].
  function grouped(owners, count) {
    const starts = new Int32Array(count + 1);
    for (const owner of owners) {
      if (owner >= 0) {
        starts[owner + 1] += 1;
      }
    }
    for (let i = 0; i < count; i += 1) {
      starts[i + 1] += starts[i];
    }
    const items = new Int32Array(starts[count]);
    const next = starts.slice(0, count);
    owners.forEach((owner, item) => {
      if (owner >= 0) {
        items[next[owner]] = item;
        next[owner] += 1;
      }
    });
    return { of: (owner) => items.subarray(starts[owner], starts[owner + 1]) };
  }

  // Finds the intervals that overlap a part of the axis.
  function intervals(lows, highs) {
    const ids = Int32Array.from(lows, (_, i) => i).sort((a, b) => lows[a] - lows[b] || a - b);
    const reach = new Float64Array(Math.ceil(ids.length / BLOCK)).fill(-Infinity);
    ids.forEach((id, rank) => {
      const block = Math.floor(rank / BLOCK);
      reach[block] = Math.max(reach[block], highs[id]);
    });
    function touching(low, high, visit) {
      for (let block = 0; block < reach.length; block += 1) {
        if (lows[ids[block * BLOCK]] > high) {
          return;
        }
        const end = reach[block] < low ? 0 : Math.min(ids.length, (block + 1) * BLOCK);
        for (let rank = block * BLOCK; rank < end; rank += 1) {
          const id = ids[rank];
          if (highs[id] >= low && lows[id] <= high) {
            visit(id);
          }
        }
      }
    }
    return { ids, touching };
  }

  // The first index in a sorted part of `marks` whose position is at least `position`.
  function firstFrom(marks, at, position) {
    let low = 0;
    let high = marks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at[marks[middle]] < position) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // The minimum and the maximum of some numbers.
  function ends(numbers) {
    return numbers.reduce(([a, b], n) => [Math.min(a, n), Math.max(b, n)], [Infinity, -Infinity]);
  }

  function spans(starts, stops, at, last) {
    const from = starts.map((start, i) => Math.min(at[start], stops[i] < 0 ? last(start) : at[stops[i]]));
    const to = starts.map((start, i) => Math.max(at[start], stops[i] < 0 ? last(start) : at[stops[i]]));
    return { from, to, spans: intervals(from, to) };
  }

  // Assigns overlapping bars of a process to separate lanes.
  function lanes(bars, rows, { from, to, spans }) {
    const busy = new Map();
    const lane = new Uint8Array(bars.start.length);
    for (const bar of spans.ids) {
      const key = rows[bars.start[bar]] * 2 + bars.kind[bar];
      const until = busy.get(key) || busy.set(key, new Float64Array(LANES).fill(-Infinity)).get(key);
      let chosen = until.findIndex((end) => end <= from[bar]);
      if (chosen < 0) {
        chosen = LANES - 1;
      }
      lane[bar] = chosen;
      until[chosen] = Math.max(until[chosen], to[bar]);
    }
    return lane;
  }

  // The indices that depend on whether the axis is time or order.
  function along(model, axis) {
    const positions = Float64Array.from(model.marks[axis]);
    const placing = axis === "time" ? parts.gaps.compressed(positions) : parts.gaps.uncut(positions);
    const { at } = placing;
    const [low, high] = at.length ? ends(at) : [0, 1];
    const byPosition = (a, b) => at[a] - at[b] || a - b; // a clock may have been set back
    const rows = model.labels.map((_, row) => model.marksOf.of(row).slice().sort(byPosition));
    const arrows = spans(model.arrows.start, model.arrows.end, at, (start) => at[start]);
    const bars = spans(model.bars.start, model.bars.end, at, () => high);
    return { ...placing, low, high, rows, arrows, bars, lane: lanes(model.bars, model.marks.process, bars) };
  }

  // The model: the output of `columns` in Python, with indices for lookups.
  function read(data) {
    const { marks, messages } = data;
    const total = messages.sender.length;
    const labels = data.labels.map((label) => parts.format.clean(label));
    const model = {
      ...data,
      labels,
      kind: Uint8Array.from(marks.kind),
      process: Int32Array.from(marks.process),
      message: Int32Array.from(marks.message),
      marksOf: grouped(marks.process, labels.length),
      marksAbout: grouped(marks.message, total),
      arrowsAbout: grouped(data.arrows.message, total),
      wrong: new Map(), // mark -> sentences
      chains: new Map(), // mark -> the messages that prove it, from the late one to the early one
      differs: new Set(data.differs || []), // marks of deliveries in another order than in another run
      called: (process, most) => parts.format.isolated(parts.format.clean(data.labels[process], most)),
      name: (message, most) => model.called(messages.sender[message], most) + "#" + messages.mid[message],
      // With the full name of the sender, as in the trace.
      fullName: (message) => parts.format.clean(data.processes[messages.sender[message]]) + "#" + messages.mid[message],
      kindOf: (mark) => data.kinds[marks.kind[mark]],
    };
    for (const flag of data.flags) {
      model.wrong.set(flag.mark, [...(model.wrong.get(flag.mark) || []), flag.sentence]);
      model.chains.set(flag.mark, flag.chain || []);
    }
    const made = {};
    model.by = (axis) => made[axis] || (made[axis] = along(model, axis));
    return model;
  }

  parts.model = { read, ends, firstFrom };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
