"""The roles of `beforehand.Node`: receivers and senders, echo, all to all, and memory."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.runtime_pairs import LOOK, Setting, Window, emit, read_command, ready, run_loop
from benchmarks.runtime_peers import round_trips

KEY = bytes(range(32))
BATCH = 256  # messages per send_many
FIRST, SECOND = "bob", "alice"  # the process that is started first; the other one


@asynccontextmanager
async def node(setting: Setting, name: str, other: str, **more: Any) -> AsyncIterator[Any]:
    """One of two nodes."""
    from beforehand import Node

    key = KEY if setting.encrypted else None
    async with Node(
        name,
        listen=setting.listen,
        peers={other: setting.peer},
        key=key,
        insecure=not setting.encrypted,  # the relay's addresses are not loopback
        spin=setting.spin,
        **more,
    ) as opened:
        yield opened


# ---- throughput ----


def node_receive(setting: Setting) -> None:
    """Messages per second."""
    run_loop(_node_receive(setting), setting.loop)


async def _node_receive(setting: Setting) -> None:
    window = Window(setting)
    async with node(setting, FIRST, SECOND) as bob:
        ready()
        if setting.batch:
            while True:
                messages = await bob.receive_batch()
                for _ in messages:  # which makes them: a batch is lazy
                    pass
                if window.add(len(messages), messages[-1].payload):
                    break
        else:
            seen = 0
            async for message in bob:
                seen += 1
                if not seen % LOOK and window.add(LOOK, message.payload):
                    break
        emit(window.rate)
        await asyncio.Event().wait()  # closing would wait for what the sender still has


def node_send(setting: Setting) -> None:
    """Send until stopped."""
    run_loop(_node_send(setting), setting.loop)


async def _node_send(setting: Setting) -> None:
    payload = bytes(setting.size)
    payloads = [payload] * BATCH
    async with node(setting, SECOND, FIRST) as alice:
        ready()
        while setting.batch:
            await alice.send_many(FIRST, payloads)
        while True:
            await alice.send(FIRST, payload)


# ---- echo ----


def node_echo(setting: Setting) -> None:
    """Echo messages until stopped."""
    run_loop(_node_echo(setting), setting.loop)


async def _node_echo(setting: Setting) -> None:
    async with node(setting, FIRST, SECOND) as bob:
        ready()
        async for message in bob:
            await bob.send(message.sender, message.payload)


def node_ask(setting: Setting) -> Any:
    """Round trips in microseconds, one message at a time: p50 and p99."""
    return run_loop(_node_ask(setting), setting.loop)


async def _node_ask(setting: Setting) -> dict[str, float]:
    payload = bytes(setting.size)
    async with node(setting, SECOND, FIRST) as alice:
        ready()

        async def ask() -> None:
            await alice.send(FIRST, payload)
            await alice.receive()

        return await round_trips(ask, setting.count)


# ---- bytes on the wire ----


def node_consume(setting: Setting) -> None:
    """Receive a number of messages; then the bytes that this side sent."""
    run_loop(_node_consume(setting), setting.loop)


async def _node_consume(setting: Setting) -> None:
    async with node(setting, FIRST, SECOND) as bob:
        ready()
        missing = setting.count
        while missing:
            missing -= len(await bob.receive_batch(missing))
        await asyncio.sleep(SETTLE)
        emit(_on_the_wire(bob.stats()))
        await asyncio.Event().wait()


def node_produce(setting: Setting) -> None:
    """Send a number of messages; then the bytes that this side sent."""
    run_loop(_node_produce(setting), setting.loop)


async def _node_produce(setting: Setting) -> None:
    payload = bytes(setting.size)
    payloads = [payload] * BATCH
    async with node(setting, SECOND, FIRST) as alice:
        ready()
        for _ in range(setting.count // BATCH):
            if setting.batch:
                await alice.send_many(FIRST, payloads)
            else:
                for _ in payloads:
                    await alice.send(FIRST, payload)
        await alice.flush()
        await asyncio.sleep(SETTLE)
        emit(_on_the_wire(alice.stats()))
        await asyncio.Event().wait()


SETTLE = 0.3  # seconds in which the last acks and permits leave
IP_AND_UDP = 28  # bytes of header before each datagram


def _on_the_wire(stats: Any) -> int:
    return int(stats.bytes_out + IP_AND_UDP * stats.datagrams_out)


# ---- all to all ----


def node_mesh(setting: Setting) -> None:
    """One of many processes: messages per second that were delivered to it."""
    run_loop(_node_mesh(setting), setting.loop)


async def _node_mesh(setting: Setting) -> None:
    from beforehand import Node

    assert setting.names is not None
    others = {name: address for name, address in setting.names.items() if name != setting.name}
    listen = setting.names[setting.name]
    async with Node(setting.name, listen=listen, peers=others) as own:
        ready()
        begin = await asyncio.to_thread(read_command)
        payloads = [bytes(setting.size)] * BATCH
        delivered = 0

        async def send_forever(name: str) -> None:
            while True:
                await own.send_many(name, payloads)

        async def receive_forever() -> None:
            nonlocal delivered
            while True:
                for _ in await own.receive_batch():
                    delivered += 1

        coroutines = (receive_forever(), *map(send_forever, others))
        tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
        await asyncio.sleep(begin - time.monotonic())
        before, opened = delivered, time.monotonic()
        await asyncio.sleep(setting.seconds)
        emit((delivered - before) / (time.monotonic() - opened))
        await asyncio.gather(*tasks)


# ---- memory ----


def _resident() -> int:
    """Bytes of memory that this process has, after garbage collection."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def node_hub(setting: Setting) -> Any:
    """A node that many others connect to: bytes per peer once all are up and idle."""
    return run_loop(_node_hub(setting), setting.loop)


async def _node_hub(setting: Setting) -> float:
    from beforehand import Node

    async with Node("hub", listen=setting.listen, key=KEY) as hub:
        ready()
        await _receive_count(hub, FEW)
        before = _resident()
        await _receive_count(hub, setting.count)
        return (_resident() - before) / setting.count


async def _receive_count(hub: Any, count: int) -> None:
    while count:
        count -= len(await hub.receive_batch(count))
    await asyncio.sleep(SETTLE)


FEW = 20  # peers (or messages) that come first, so that shared structures exist already


def node_spokes(setting: Setting) -> None:
    """Many nodes in one process; each announces itself to the hub, and is silent from then on."""
    run_loop(_node_spokes(setting), setting.loop)


async def _node_spokes(setting: Setting) -> None:
    from beforehand import Node

    ready()
    async with AsyncExitStack() as opened:
        for number in range(FEW + setting.count):
            spoke = Node(f"spoke-{number}", peers={"hub": setting.peer}, key=KEY)
            await opened.enter_async_context(spoke)
            await spoke.send("hub", b"here")
            if number == FEW - 1:
                await asyncio.sleep(2 * SETTLE)  # the hub looks at its memory
        await asyncio.Event().wait()


def node_hoard(setting: Setting) -> Any:
    """A receiver whose application does not read: bytes for each message that waits for it."""
    return run_loop(_node_hoard(setting), setting.loop)


async def _node_hoard(setting: Setting) -> float:
    window = {"window": 2 * setting.count, "window_bytes": 2 * setting.count * setting.size}
    async with node(setting, FIRST, SECOND, **window) as bob:
        ready()
        await bob.receive()
        before = _resident()
        emit("begin")
        while bob.stats().messages_delivered <= setting.count:
            await asyncio.sleep(0.05)
        await asyncio.sleep(SETTLE)
        return (_resident() - before) / setting.count


def node_fill(setting: Setting) -> None:
    """The sender to that receiver, or to one that is stopped: bytes for each message on its way."""
    run_loop(_node_fill(setting), setting.loop)


async def _node_fill(setting: Setting) -> None:
    async with node(setting, SECOND, FIRST) as alice:
        ready()
        await alice.send(FIRST, bytes(setting.size))
        await alice.flush()
        await asyncio.to_thread(read_command)
        before = _resident()
        for _ in range(0, setting.count, BATCH):
            await alice.send_many(FIRST, [bytes(setting.size) for _ in range(BATCH)])
        await asyncio.sleep(SETTLE)
        emit((_resident() - before) / setting.count)
        await asyncio.Event().wait()
