"use strict";
// Formats names, times and sizes. Names come from traces and may contain anything.
(function (parts) {
  const LONGEST = 200; // characters of a name that are used; no row has space for more
  // Control characters, bidirectional overrides and lone surrogates.
  const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\p{Cs}]/gu;
  const MOST_LETTERS = 1000; // of a sentence
  const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

  function visible(character) {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
  }

  // A name as text of at most `most` characters, without control characters.
  function clean(text, most = LONGEST) {
    const some = text.length > 2 * most ? text.slice(0, 2 * most) : text;
    const letters = Array.from(some.replace(UNSEEN, visible)); // code points: keeps surrogate pairs whole
    const whole = letters.length <= most && some.length === text.length;
    return whole ? letters.join("") : letters.slice(0, most - 1).join("") + "…";
  }

  // A sentence of the data, which may be long.
  function sentence(text) {
    return clean(text, MOST_LETTERS);
  }

  // The same, isolated from the direction of the surrounding text.
  function isolated(text) {
    return "\u2068" + text + "\u2069";
  }

  function significant(value) {
    const rounded = Number(value.toPrecision(3));
    return rounded >= 1000 ? rounded.toLocaleString("en") : String(rounded);
  }

  function time(ns) {
    const size = Math.abs(ns);
    if (size === 0) {
      return "0";
    }
    const [unit, factor] = UNITS.find(([, least]) => size >= least) || UNITS[UNITS.length - 1];
    return (ns < 0 ? "−" : "") + significant(size / factor) + " " + unit;
  }

  // With microseconds, for lists of times that are close to each other.
  function precise(ns) {
    const [unit, factor] = Math.abs(ns) >= 1e9 ? ["s", 1e9] : ["ms", 1e6];
    return (ns < 0 ? "−" : "") + (Math.abs(ns) / factor).toFixed(unit === "s" ? 6 : 3) + " " + unit;
  }

  function bytes(size) {
    return size < 10000 ? count(size, "byte") : significant(size / 1000) + " kB";
  }

  function count(number, noun) {
    return number.toLocaleString("en") + " " + noun + (number === 1 ? "" : noun.endsWith("s") ? "es" : "s");
  }

  parts.format = { clean, sentence, isolated, time, precise, bytes, count, significant, UNITS };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
