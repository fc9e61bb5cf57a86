"use strict";
// Charts: drawn by Plotly when they come into view, and again when the theme changes or the page is
// printed.
(function () {
  const { data, whenSeen } = Report;
  const CONFIG = { displayModeBar: false, responsive: true, showTips: false, doubleClick: false };
  const drawn = new Set();

  // Replaces names of colours by the values of the style sheet.
  function coloured(value, style) {
    if (typeof value === "string" && value.startsWith("var(--")) {
      return style.getPropertyValue(value.slice(4, -1)).trim();
    }
    if (Array.isArray(value)) return value.map((item) => coloured(item, style));
    if (value === null || typeof value !== "object") return value;
    const entries = Object.entries(value).map(([name, item]) => [name, coloured(item, style)]);
    return Object.fromEntries(entries);
  }

  function axis(own) {
    return {
      gridcolor: "var(--line)",
      linecolor: "var(--line)",
      tickfont: { color: "var(--text)" },
      zeroline: false,
      automargin: true,
      fixedrange: true, // so that a swipe on a chart scrolls the page
      ticks: "",
      ...own,
    };
  }

  function layout(spec) {
    return {
      ...spec.layout,
      xaxis: axis(spec.layout.xaxis),
      yaxis: axis(spec.layout.yaxis),
      height: spec.height,
      margin: { l: 8, r: 12, t: 8, b: 8 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "var(--sans)", size: 12, color: "var(--text)" },
      hovermode: "closest",
      hoverlabel: {
        bgcolor: "var(--panel)",
        bordercolor: "var(--line)",
        font: { color: "var(--text)", size: 13 },
      },
      dragmode: false,
      showlegend: true,
      legend: {
        orientation: "h",
        x: 0,
        y: 1.01,
        yanchor: "bottom",
        font: { size: 12 },
        itemclick: false, // an accidental tap would hide a series
        itemdoubleclick: false,
      },
    };
  }

  function draw(element, width) {
    const spec = data("charts")[element.dataset.chart];
    const style = getComputedStyle(document.documentElement);
    const wanted = { ...layout(spec), ...(width ? { width } : {}) };
    const first = !drawn.has(element);
    drawn.add(element);
    Plotly.react(element, coloured(spec.data, style), coloured(wanted, style), CONFIG);
    if (first) element.on("plotly_click", follow); // Plotly adds `on` when it first draws
  }

  // A mark links to its run, like a figure in a table.
  function follow({ points }) {
    const anchor = points[0].customdata;
    if (anchor) location.hash = `run-${anchor}`;
  }

  const charts = document.querySelectorAll("[data-chart]");
  // Reserves the height, so that the page doesn't shift when a chart is drawn.
  for (const chart of charts) chart.style.minHeight = `${chart.dataset.height}px`;
  whenSeen(charts, (element) => draw(element));
  document.addEventListener("themechange", () => drawn.forEach((element) => draw(element)));

  Report.drawAll = (width) => charts.forEach((element) => draw(element, width));
})();
