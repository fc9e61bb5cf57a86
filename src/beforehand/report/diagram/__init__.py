"""Space-time diagrams: events on processes, and messages between them.

In reading order, which is also the way of a trace's events:

- `logs.py` puts the events of each process in its order, `linearise.py` those of all processes in one.
- `waits.py` finds where messages waited; `drawing.py` turns all of it into the `Diagram` of `model.py`.
- `build.py` does these steps, for a whole run or the part around a message.
- `columns.py` and `page.py` make an interactive page of it (scripts: `assets/diagram*.js`).
- `svg.py` makes a picture, with `layout.py`, `shapes.py`, `legend.py` and `text_metrics.py`.
- `compare.py` finds the deliveries of two runs that come in another order.
- `side_by_side.py` compares one violation in two runs: `excerpt.py` selects its messages in each, and
  `panel.py` draws them small, with their names where `placement.py` finds room.
- `names.py`: labels of processes and messages.
"""
