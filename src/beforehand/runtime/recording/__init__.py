"""Recording what happens in a node as a trace, without slowing the node down.

`frame_events.py` turns frames of the core into rows, `node_trace.py` collects them in groups
(`event_group.py`) and hands each group to the thread of `runtime/trace_writer.py`, which writes files.
This folder is compiled; the thread is not, because compiled code would not yield to the node.
"""
