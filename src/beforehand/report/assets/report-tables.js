"use strict";
// Tables: sorted by their headers, and saved as CSV.
(function () {
  const { make, announce } = Report;
  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
  const order = new WeakMap(); // table -> its rows in the original order

  function rows(table) {
    const body = table.tBodies[0];
    if (!order.has(table)) order.set(table, Array.from(body.rows));
    return order.get(table);
  }

  // The sort key of a cell; undefined for an unknown value.
  function key(row, column, kind) {
    const cell = row.cells[column];
    if ("missing" in cell.dataset) return undefined;
    return kind === "text" ? cell.dataset.value : Number(cell.dataset.value);
  }

  function compare(one, other) {
    if (typeof one === "string") return one.localeCompare(other, "en", { numeric: true });
    return one - other;
  }

  function sort(header) {
    const table = header.closest("table");
    const direction = NEXT[header.getAttribute("aria-sort")];
    const headers = table.querySelectorAll("th[aria-sort]");
    for (const other of headers) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", direction);
    let sorted = rows(table);
    if (direction !== "none") {
      const sign = direction === "ascending" ? 1 : -1;
      const keyed = sorted.map((row) => [key(row, header.cellIndex, header.dataset.kind), row]);
      // Unknown values come last in both directions; equal rows keep their order.
      const known = keyed.filter(([value]) => value !== undefined);
      const unknown = keyed.filter(([value]) => value === undefined);
      known.sort(([one], [other]) => sign * compare(one, other));
      sorted = [...known, ...unknown].map(([, row]) => row);
    }
    table.tBodies[0].append(...sorted);
    const by = `${direction} by ${header.textContent.trim()}`;
    announce(`Rows ${direction === "none" ? "in their own order" : by}`);
  }

  // Spreadsheets evaluate text that begins with these as a formula, unless an apostrophe precedes it.
  // Numbers are unchanged.
  const FORMULA = /^[=+\-@\t\r]/;
  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

  function csvCell(value) {
    const safe = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  // All rows in the original order, however the page is sorted or filtered.
  function csv(table) {
    const heads = table.querySelectorAll("thead th[data-column]");
    const names = Array.from(heads, (head) => head.dataset.column);
    const values = rows(table).map((row) => Array.from(row.cells, (cell) => cell.dataset.value));
    return [names, ...values].map((line) => line.map(csvCell).join(",") + "\r\n").join("");
  }

  function save(name) {
    const table = document.querySelector(`table[data-table="${CSS.escape(name)}"]`);
    const link = make("a", "");
    link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv;charset=utf-8" }));
    link.download = `${name}.csv`;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000); // some browsers read the blob later
    announce(`${name}.csv saved`);
  }

  // Marks the tables that go on to the right of what is visible.
  function hint(scroll) {
    const beyond = scroll.scrollWidth - scroll.clientWidth - scroll.scrollLeft > 1;
    scroll.parentElement.classList.toggle("beyond", beyond);
  }

  const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => hint(target)));
  for (const scroll of document.querySelectorAll(".table > .scroll")) {
    resized.observe(scroll);
    scroll.addEventListener("scroll", () => hint(scroll), { passive: true });
  }

  document.addEventListener("click", (event) => {
    const sorter = event.target.closest("[data-sort]");
    if (sorter) sort(sorter.closest("th"));
    const saver = event.target.closest("[data-save]");
    if (saver) save(saver.dataset.save);
    const columns = event.target.closest("[data-all-columns]");
    if (columns) {
      const whole = columns.closest(".compared").classList.toggle("whole");
      columns.setAttribute("aria-pressed", String(whole));
      hint(columns.closest(".compared").querySelector(".scroll"));
    }
  });
})();
