"use strict";
// Translates mouse, touch and keyboard input into actions.
(function (parts) {
  const STILL = 4; // pixels that a press may move and still count as a click
  const REACH = { mouse: 11, touch: 22 };
  const STEP = 60; // pixels per press of an arrow key
  const LINE = 16; // pixels per line, for wheels that report lines

  function point(surface, event) {
    const box = surface.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  function reach(event) {
    return event.pointerType === "touch" ? REACH.touch : REACH.mouse;
  }

  function span(pointers) {
    const [a, b] = [...pointers.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, far: Math.hypot(a.x - b.x, a.y - b.y) || 1 };
  }

  function pointing(surface, actions, signal) {
    const pointers = new Map(); // pressed pointers and their positions
    let [start, moved] = [null, false];

    function down(event) {
      if (event.button > 0) {
        return;
      }
      pointers.set(event.pointerId, point(surface, event));
      surface.setPointerCapture(event.pointerId);
      [start, moved] = [point(surface, event), pointers.size > 1];
    }

    function drag(event, to) {
      const from = pointers.get(event.pointerId);
      const before = pointers.size === 2 ? span(pointers) : null;
      pointers.set(event.pointerId, to);
      if (before) {
        const now = span(pointers);
        actions.pan(now.x - before.x, now.y - before.y);
        actions.zoom(now.far / before.far, now.x);
      } else if (moved || Math.hypot(to.x - start.x, to.y - start.y) > STILL) {
        // A vertical swipe with one finger scrolls the page.
        const dy = event.pointerType === "touch" ? 0 : to.y - from.y;
        actions.pan(to.x - (moved ? from.x : start.x), dy);
        moved = true;
      }
    }

    function move(event) {
      const to = point(surface, event);
      if (pointers.has(event.pointerId)) {
        drag(event, to);
      } else {
        actions.point(to, reach(event));
      }
    }

    function up(event) {
      if (pointers.delete(event.pointerId) && !moved && !pointers.size) {
        actions.press(point(surface, event), reach(event));
      }
    }

    surface.addEventListener("pointerdown", down, { signal });
    surface.addEventListener("pointermove", move, { signal });
    surface.addEventListener("pointerup", up, { signal });
    surface.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId), { signal });
    surface.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") {
        actions.leave();
      }
    }, { signal });
    surface.addEventListener("dblclick", (event) => {
      actions.zoom(event.shiftKey ? 0.4 : 2.5, point(surface, event).x);
    }, { signal });
  }

  // On a page that scrolls, the wheel scrolls the page until the diagram has been clicked.
  function wheeling(surface, view, actions, isOurs, signal) {
    surface.addEventListener("wheel", (event) => {
      if (!isOurs() && !event.ctrlKey) {
        return;
      }
      event.preventDefault();
      const unit = event.deltaMode === 0 ? 1 : event.deltaMode === 1 ? LINE : view.height;
      const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
      const { x } = point(surface, event);
      if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
        actions.pan(-(dx || dy), 0);
      } else if (x < view.gutter) {
        actions.pan(0, -dy);
      } else {
        // Touchpads report pinches as small steps with the control key.
        actions.zoom(Math.exp(-dy * (event.ctrlKey ? 0.01 : 0.0016)), x);
      }
    }, { signal, passive: false });
  }

  function keys(surface, actions, signal) {
    const pressed = {
      ArrowLeft: () => actions.pan(STEP, 0),
      ArrowRight: () => actions.pan(-STEP, 0),
      ArrowUp: () => actions.pan(0, STEP),
      ArrowDown: () => actions.pan(0, -STEP),
      "+": () => actions.zoom(1.4),
      "=": () => actions.zoom(1.4),
      "-": () => actions.zoom(1 / 1.4),
      0: actions.fit,
      Home: actions.fit,
      n: () => actions.step(1),
      p: () => actions.step(-1),
      Enter: actions.choose,
      Escape: actions.clear,
      v: actions.wrong,
      l: actions.log,
      "/": actions.search,
      "?": actions.keys,
    };
    surface.addEventListener("keydown", (event) => {
      const action = pressed[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (action && !event.ctrlKey && !event.altKey && !event.metaKey) {
        event.preventDefault();
        action();
      }
    }, { signal });
  }

  // A press or a drag on the strip moves the view.
  function strip(overview, actions, signal) {
    const go = (event) => {
      if (event.buttons) {
        const box = overview.getBoundingClientRect();
        actions.go((event.clientX - box.left) / box.width);
      }
    };
    overview.addEventListener("pointerdown", (event) => {
      overview.setPointerCapture(event.pointerId);
      go(event);
    }, { signal });
    overview.addEventListener("pointermove", go, { signal });
  }

  function attach({ surface, overview, view, actions, isOurs, signal }) {
    pointing(surface, actions, signal);
    wheeling(surface, view, actions, isOurs, signal);
    keys(surface, actions, signal);
    strip(overview, actions, signal);
  }

  parts.input = { attach };
})((window.BeforehandDiagram = window.BeforehandDiagram || {}));
