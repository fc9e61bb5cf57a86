"""The engine: a node without I/O and without asyncio, compiled.

In reading order:

    engine.py         `Engine`: datagrams, messages and time in; datagrams and events out
    outbox.py         messages that are accepted, the run they wait in, and frames on their way to links
    inbox.py          delivered messages until the application takes them; message.py: what it gets
    peer.py           one other process; sessions.py: all of them, and how sessions begin and end
    flow_control.py   credit that is granted and received; credit.py: the accounts of one pair
    links.py          which links have something to write, and their timers
    events.py         what an engine reports apart from datagrams and messages
    deferred_acks.py  acknowledgements that are processed after messages; counters.py: for `stats()`

To send a message, `Engine.try_send` adds it to the pending run of the outbox; `Engine.flush` hands the
run to the core and the frames of the core to links, which turn them into datagrams. To receive one,
`Engine.receive` opens a datagram with its link, decodes the frames, hands them to the core, and puts
what the core delivers into the inbox.
"""
