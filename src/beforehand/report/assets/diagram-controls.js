"use strict";
// The elements around the canvas: search, buttons, legend, status line and text table.
(function (parts) {
  const { make, button, toggle, group } = parts.elements;
  const ICON = { width: 26, height: 16 };
  const WORTH_A_SEARCH = 12; // messages, from which on there is a search box
  const HELP =
    "Drag or use the arrow keys to move; wheel, pinch, plus and minus zoom; 0 or Home shows all of it. " +
    "N and P go to the next and the previous message, Enter selects it, and Escape ends the selection. " +
    "The question mark lists all keys. The selected message is also described as text, below.";
  let counted = 0; // makes ids unique if a page has several diagrams

  // Buttons to choose one of two axes.
  function axes(view, turn) {
    const names = ["time", "order"];
    const made = names.map((axis) => toggle("By " + axis, "Draw by " + axis, () => view.axis === axis, () => {
      turn(axis);
      made.forEach((button, i) => button.setAttribute("aria-pressed", String(view.axis === names[i])));
    }));
    return group("Axis", ...made);
  }

  function drawIcon(canvas, colours, paint) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = ICON.width * ratio;
    canvas.height = ICON.height * ratio;
    const ctx = canvas.getContext("2d");
    ctx.scale(ratio, ratio);
    paint(ctx, colours);
  }

  function markIcon(kind) {
    return (ctx, colours) => {
      ctx.fillStyle = colours[kind] || colours.other;
      ctx.beginPath();
      parts.shapes.SHAPES[kind](ctx, 13, 8, 5.5);
      ctx.fill();
    };
  }

  function lineIcon(name, width, dash, lost) {
    return (ctx, colours) => {
      ctx.strokeStyle = ctx.fillStyle = colours[name];
      ctx.lineWidth = width;
      ctx.setLineDash(dash);
      ctx.beginPath();
      ctx.moveTo(2, 8);
      ctx.lineTo(lost ? 14 : 18, 8);
      ctx.stroke();
      ctx.beginPath();
      if (lost) {
        parts.shapes.SHAPES.evict(ctx, 17, 8, 4);
      } else {
        ctx.moveTo(24, 8);
        ctx.lineTo(17, 4.5);
        ctx.lineTo(17, 11.5);
      }
      ctx.fill();
    };
  }

  function barIcon(kind) {
    return (ctx, colours) => {
      ctx.fillStyle = parts.shapes.barFill(ctx, kind, colours[kind]);
      ctx.fillRect(2, 5, 22, 6);
    };
  }

  function flagIcon(ctx, colours) {
    ctx.strokeStyle = ctx.fillStyle = colours.bad;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.arc(13, 8, 6.5, 0, 2 * Math.PI);
    ctx.stroke();
    ctx.font = "bold 11px " + colours.font;
    ctx.textAlign = "center";
    ctx.fillText("!", 13, 12);
  }

  function diamondIcon(ctx, colours) {
    ctx.strokeStyle = colours.differs;
    ctx.lineWidth = 1.8;
    ctx.beginPath();
    parts.shapes.diamond(ctx, 13, 8, 7);
    ctx.stroke();
  }

  function hiddenIcon(ctx, colours) {
    ctx.strokeStyle = colours.arrow;
    ctx.lineWidth = 1.3;
    ctx.beginPath();
    ctx.moveTo(4, 8);
    ctx.lineTo(17, 8);
    ctx.moveTo(23, 8);
    ctx.arc(20, 8, 3, 0, 2 * Math.PI);
    ctx.stroke();
  }

  // The legend entries for what occurs in this diagram, as [text, icon, class].
  function entries(model) {
    const kinds = new Set(model.kind);
    const has = (kind) => kinds.has(model.kinds.indexOf(kind));
    const { arrows, bars } = model;
    return [
      has("send") && ["causal-send", markIcon("send")],
      has("release") && ["release", markIcon("release")],
      has("receive") && ["receive", markIcon("receive")],
      has("deliver") && ["deliver", markIcon("deliver")],
      arrows.kind.includes(0) && ["message", lineIcon("arrow", 1.3, [])],
      arrows.kind.includes(1) && ["relayed", lineIcon("arrow", 1.3, [5, 4])],
      arrows.kind.includes(2) && ["ack or permit", lineIcon("control", 0.9, [1.5, 3])],
      arrows.end.includes(-1) && ["not seen to arrive", lineIcon("arrow", 1.3, [], true)],
      bars.kind.includes(0) && ["held by its sender", barIcon("held")],
      bars.kind.includes(1) && ["buffered by a receiver", barIcon("buffered")],
      (has("start") || has("stop")) && ["start or end", markIcon("start")],
      has("evict") && ["gives up on another", markIcon("evict")],
      model.wrong.size > 0 && ["wrong", flagIcon],
      model.differs.size > 0 && ["in another order there", diamondIcon],
      ["to or from a hidden process", hiddenIcon, "diagram-if-hidden"],
    ].filter(Boolean);
  }

  function icon(paint) {
    const canvas = make("canvas", undefined, "diagram-icon");
    canvas.setAttribute("aria-hidden", "true");
    return { canvas, paint };
  }

  // The legend.
  function legend(model, icons) {
    const made = make("ul", undefined, "diagram-legend");
    for (const [text, paint, className] of entries(model)) {
      const item = make("li", undefined, className);
      icons.push(icon(paint));
      item.append(icons[icons.length - 1].canvas, make("span", text));
      made.append(item);
    }
    return made;
  }

  // The status line: the selected message, and the colours of its past and future.
  function status(icons) {
    const made = make("p", "", "diagram-status");
    made.setAttribute("role", "status");
    const [past, future] = [icon(lineIcon("past", 2.2, [])), icon(lineIcon("future", 2.2, [7, 3]))];
    icons.push(past, future);
    return {
      element: made,
      show: (text) => made.replaceChildren(text),
      selected([name, before, after, others]) {
        made.replaceChildren(name, ...(before ? [past.canvas, before] : []), future.canvas, after, others);
      },
    };
  }

  // The main canvas, an overlay canvas for the hovered message, and the tooltip.
  function stage(model) {
    const made = make("div", undefined, "diagram-stage");
    const [base, surface, tip] = [make("canvas"), make("canvas"), make("div", undefined, "diagram-tip")];
    const help = make("p", HELP, "visually-hidden");
    counted += 1;
    help.id = "diagram-help-" + counted;
    base.setAttribute("aria-hidden", "true");
    surface.tabIndex = 0;
    surface.setAttribute("role", "application");
    surface.setAttribute("aria-label", "Space-time diagram: " + parts.details.summary(model));
    surface.setAttribute("aria-describedby", help.id);
    tip.hidden = true;
    made.append(base, surface, tip, help);
    return { element: made, base, surface, tip };
  }

  // Creates all elements of a diagram; `actions` has the handlers of the buttons.
  function build(model, view, show, actions) {
    const bar = make("div", undefined, "diagram-bar");
    const search = parts.search.box(model, { mark: actions.mark, go: actions.goMatch });
    search.element.hidden = model.messages.mid.length < WORTH_A_SEARCH;
    const processes = parts.processes.processes(model, view.rows, actions.rows);
    processes.menu.hidden = model.labels.length < 2;
    const keys = parts.keys.keys();
    bar.append(
      search.element,
      group("Zoom",
        button("−", "Zoom out", () => actions.zoom(1 / 1.6)),
        button("+", "Zoom in", () => actions.zoom(1.6)),
        button("Fit", "Show all of it", actions.fit)),
      axes(view, actions.turn),
    );
    const toggles = [["Bars", "bars", "Bars of messages that wait", model.bars.kind.length > 0],
      ["Acks", "controls", "Acks, permits and other control frames", model.arrows.kind.includes(2)],
      ["Names", "labels", "Numbers of the messages", model.messages.mid.length > 0]];
    const log = toggle("Log", "List the events as text, next to the diagram", () => show.log, actions.toggleLog);
    bar.append(group("Show", ...toggles.filter(([, , , present]) => present).map(([text, name, label]) =>
      toggle(text, label, () => show[name], () => actions.toggle(name))), log), processes.menu);
    if (model.wrong.size) {
      bar.append(button("! " + model.wrong.size, "Go to the next wrong delivery", actions.wrong));
    }
    if (model.differs.size) {
      bar.append(button("≠ " + model.differs.size, "Go to the next delivery in another order", actions.differing));
    }
    bar.append(button("?", "List the keys", keys.open));
    const icons = [];
    const overview = make("canvas", undefined, "diagram-overview");
    overview.setAttribute("aria-hidden", "true");
    const text = make("details", undefined, "diagram-text");
    const words = make("div");
    text.append(make("summary", "As text"), words);
    text.addEventListener("toggle", actions.describe);
    return {
      ...{ bar, overview, text, words, search, processes, keys, log },
      stage: stage(model),
      status: status(icons),
      legend: legend(model, icons),
      paint: (colours) => icons.forEach(({ canvas, paint }) => drawIcon(canvas, colours, paint)),
    };
  }

  parts.controls = { build };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
