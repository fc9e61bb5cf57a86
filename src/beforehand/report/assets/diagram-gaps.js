"use strict";
// Long stretches of time without any event are cut out of the axis. Between two cuts a position is a
// time minus what was cut out before it, so distances that are drawn stay true.
(function (parts) {
  const FEWEST = 10; // events, from which on anything is cut
  const MOST = 6; // cuts
  const SHARE = 0.25; // a gap is long if it is more than this share of all the rest
  const LEFT = 0.03; // share of the rest that stays of each cut, to show it

  // The longest gaps between consecutive times, longest first.
  function longest(sorted) {
    const gaps = [];
    for (let i = 1; i < sorted.length; i += 1) {
      const size = sorted[i] - sorted[i - 1];
      if (gaps.length < MOST || size > gaps[gaps.length - 1].size) {
        gaps.push({ from: sorted[i - 1], to: sorted[i], size });
        gaps.sort((a, b) => b.size - a.size).splice(MOST);
      }
    }
    return gaps;
  }

  function uncut(positions) {
    return { at: positions, cuts: [], real: (position) => position, placed: (time) => time };
  }

  // The positions of times, and the cuts: { low, high } are positions, `skipped` is a duration.
  function compressed(times) {
    if (times.length < FEWEST) {
      return uncut(times);
    }
    const sorted = times.slice().sort();
    const gaps = longest(sorted);
    let rest = sorted[sorted.length - 1] - sorted[0];
    let [count, kept] = [0, rest];
    gaps.forEach(({ size }, i) => {
      rest -= size;
      if (size > SHARE * rest) {
        [count, kept] = [i + 1, rest];
      }
    });
    return count ? without(times, gaps.slice(0, count), Math.max(1, kept * LEFT)) : uncut(times);
  }

  // Positions without these gaps, of which only `left` stays.
  function without(times, gaps, left) {
    let before = 0;
    const cuts = gaps.sort((a, b) => a.from - b.from).map(({ from, to, size }) => {
      const low = from - before;
      before += size - left;
      return { from, to, low, high: low + left, skipped: size, after: before };
    });
    const placed = (time) => {
      let shift = 0;
      for (const { from, to, low, high, after } of cuts) {
        if (time > from && time < to) {
          return low + ((time - from) / (to - from)) * (high - low);
        }
        shift = time >= to ? after : shift;
      }
      return time - shift;
    };
    const real = (position) => {
      let shift = 0;
      for (const { low, high, from, to, after } of cuts) {
        if (position > low && position < high) {
          return from + ((position - low) / (high - low)) * (to - from);
        }
        shift = position >= high ? after : shift;
      }
      return position + shift;
    };
    return { at: times.map(placed), cuts, real, placed };
  }

  // The parts of the axis between the cuts, within a range of positions.
  function stretches({ cuts }, low, high) {
    const ends = [low, ...cuts.flatMap((cut) => [cut.low, cut.high]), high];
    const found = [];
    for (let i = 0; i < ends.length; i += 2) {
      const [from, to] = [Math.max(low, ends[i]), Math.min(high, ends[i + 1])];
      if (from <= to) {
        found.push([from, to]);
      }
    }
    return found;
  }

  parts.gaps = { compressed, uncut, stretches };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
