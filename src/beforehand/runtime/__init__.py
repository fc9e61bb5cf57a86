"""Nodes: causal delivery for services, on asyncio. docs/runtime.md is for users of it.

In reading order:

    node.py       `Node`, the public API; settings.py: its arguments, checked
    driver.py     `Driver` puts an engine on an event loop and a transport, and schedules everything
    engine/       the node without I/O: outbox, core, sessions, inbox, flow control      (compiled)
    link/         one session with one peer: datagrams, loss recovery, congestion        (compiled)
    transports/   UDP, NATS, in memory, and a faulty one for tests
    identity/     who takes part: handshakes, keys, restarts, silence, new addresses
    waiters.py    tasks that wait; events.py: what a node reports of its peers; stats.py: its counters
    recording/    the trace of a node; trace_writer.py writes it to disk
    cluster/      several nodes in processes of their own, for `beforehand cluster`
    run.py        `asyncio.run` on uvloop

A message goes from `Node.send` through the engine's outbox and core into a link, and at the end of the
turn as a datagram to the transport. At the other side `Driver.receive` takes it through link and core
into the inbox, where `async for` finds it.
"""
