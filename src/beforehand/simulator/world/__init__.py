"""One run: the hot loop and its parts, which `simulation.py` wires together.

    run_setup.py        what a run starts with, shared by its parts
    event_queue.py      virtual time, and what happens when
    processes.py        processes, and their messages that are not yet delivered everywhere
    application.py      causal-sends for the workload, jobs that deliveries start
    open_messages.py    the state of every copy, from causal-send to delivery
    transport.py        carries out effects; frames in flight
    frame_contents.py   the messages inside frames
    network.py          uplinks and delays;  faults.py: loss, duplication, partitions, stops
    timers.py           ticks of the cores, background tasks
    lifecycle.py        processes that start, stop and are dropped
    observers.py        trace and oracle
    distributions.py, random_streams.py, arithmetic.py    random numbers, the same on every machine

A message: `Application.send` opens it and calls the core, `SimulatedTransport.carry_out` transmits the
frames, an event fires when one arrives, the receiving core's effects deliver it, and
`Application.delivered` reacts.
"""
