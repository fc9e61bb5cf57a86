"""Common tools, as roles: pyzmq with both of its APIs, nats-py, and bare asyncio UDP.

All of them guarantee less: FIFO between two processes at most, and UDP not even that. Messages that UDP
or NATS lost are not counted; a sender that outruns its receiver there gains nothing by it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.runtime_pairs import LOOK, Setting, Window, free_port, ready, run_loop, split

HIGH_WATER = 100_000  # messages; with the default of 1,000 pyzmq mostly waits
SUBJECT = "benchmark"


# ---- pyzmq, PUSH to PULL over TCP ----


def zmq_receive(setting: Setting) -> float:
    """The blocking API: messages per second."""
    import zmq

    window = Window(setting)
    with zmq.Context() as context, context.socket(zmq.PULL) as pull:
        pull.setsockopt(zmq.RCVHWM, HIGH_WATER)
        pull.bind(f"tcp://{setting.listen}")
        ready()
        receive = pull.recv
        while True:
            for _ in range(LOOK):
                payload = receive()
            if window.add(LOOK, payload):
                return window.rate


def zmq_send(setting: Setting) -> None:
    """The blocking API, until stopped."""
    import zmq

    payload = bytes(setting.size)
    with zmq.Context() as context, context.socket(zmq.PUSH) as push:
        push.setsockopt(zmq.SNDHWM, HIGH_WATER)
        push.connect(f"tcp://{setting.peer}")
        ready()
        send = push.send
        while True:
            send(payload)


def zmq_async_receive(setting: Setting) -> Any:
    """zmq.asyncio: messages per second."""
    return run_loop(_zmq_async_receive(setting), setting.loop)


async def _zmq_async_receive(setting: Setting) -> float:
    import zmq.asyncio

    window = Window(setting)
    with zmq.asyncio.Context() as context, context.socket(zmq.PULL) as pull:
        pull.setsockopt(zmq.RCVHWM, HIGH_WATER)
        pull.bind(f"tcp://{setting.listen}")
        ready()
        while True:
            for _ in range(LOOK):
                payload = await pull.recv()
            if window.add(LOOK, payload):
                return window.rate


def zmq_async_send(setting: Setting) -> None:
    """zmq.asyncio, until stopped."""
    run_loop(_zmq_async_send(setting), setting.loop)


async def _zmq_async_send(setting: Setting) -> None:
    import zmq.asyncio

    payload = bytes(setting.size)
    with zmq.asyncio.Context() as context, context.socket(zmq.PUSH) as push:
        push.setsockopt(zmq.SNDHWM, HIGH_WATER)
        push.connect(f"tcp://{setting.peer}")
        ready()
        while True:
            await push.send(payload)


# ---- nats-py, through a server ----


@contextmanager
def nats_server() -> Iterator[str | None]:
    """The address of a server on loopback; None if there is none to start."""
    program = shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if program is None:
        yield None
        return
    port = free_port()
    command = [program, "--addr", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for_port(port)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _wait_for_port(port: int) -> None:
    give_up = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.02)
        else:
            return


def nats_receive(setting: Setting) -> Any:
    """A subscription with a callback: messages per second."""
    return run_loop(_nats_receive(setting), setting.loop)


async def _nats_receive(setting: Setting) -> float:
    import nats

    window = Window(setting)
    over = asyncio.Event()
    seen = 0

    async def arrived(message: Any) -> None:
        nonlocal seen
        seen += 1
        if seen % LOOK == 0 and window.add(LOOK, message.data):
            over.set()

    client = await nats.connect(f"nats://{setting.listen}")
    await client.subscribe(SUBJECT, cb=arrived)
    await client.flush()
    ready()
    await over.wait()
    return window.rate


def nats_send(setting: Setting) -> None:
    """Publish until stopped."""
    run_loop(_nats_send(setting), setting.loop)


async def _nats_send(setting: Setting) -> None:
    import nats

    payload = bytes(setting.size)
    client = await nats.connect(f"nats://{setting.peer}")
    ready()
    while True:
        for _ in range(LOOK):
            await client.publish(SUBJECT, payload)
        await asyncio.sleep(0)  # else nothing is written before two megabytes wait


# ---- bare asyncio UDP: a datagram for each message, lost if the receiver is behind ----


class _Counting(asyncio.DatagramProtocol):
    def __init__(self, window: Window) -> None:
        self.over = asyncio.Event()
        self._window = window
        self._seen = 0

    def datagram_received(self, data: bytes, address: Any) -> None:
        self._seen += 1
        if self._seen % LOOK == 0 and self._window.add(LOOK, data):
            self.over.set()


def udp_receive(setting: Setting) -> Any:
    """Datagrams per second that arrived."""
    return run_loop(_udp_receive(setting), setting.loop)


async def _udp_receive(setting: Setting) -> float:
    window = Window(setting)
    loop = asyncio.get_running_loop()
    transport, counting = await loop.create_datagram_endpoint(
        lambda: _Counting(window), local_addr=split(setting.listen)
    )
    ready()
    await counting.over.wait()
    transport.close()
    return window.rate


def udp_send(setting: Setting) -> None:
    """Send datagrams until stopped."""
    run_loop(_udp_send(setting), setting.loop)


async def _udp_send(setting: Setting) -> None:
    payload = bytes(setting.size)
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        asyncio.DatagramProtocol, remote_addr=split(setting.peer)
    )
    ready()
    while True:
        for _ in range(16):
            transport.sendto(payload)
        await asyncio.sleep(0)


# ---- echo over bare asyncio UDP ----


class _Echoing(asyncio.DatagramProtocol):
    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, address: Any) -> None:
        self._transport.sendto(data, address)


class _Asking(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.answer: asyncio.Future[bytes] | None = None

    def datagram_received(self, data: bytes, address: Any) -> None:
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(data)


def udp_echo(setting: Setting) -> None:
    """Echo datagrams until stopped."""
    run_loop(_udp_echo(setting), setting.loop)


async def _udp_echo(setting: Setting) -> None:
    await asyncio.get_running_loop().create_datagram_endpoint(
        _Echoing, local_addr=split(setting.listen)
    )
    ready()
    await asyncio.Event().wait()


def udp_ask(setting: Setting) -> Any:
    """Round trips in microseconds, one message at a time: p50 and p99."""
    return run_loop(_udp_ask(setting), setting.loop)


async def _udp_ask(setting: Setting) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    transport, asking = await loop.create_datagram_endpoint(
        _Asking, remote_addr=split(setting.peer)
    )
    ready()
    payload = bytes(setting.size)

    async def ask() -> None:
        asking.answer = loop.create_future()
        transport.sendto(payload)
        await asking.answer

    quantiles = await round_trips(ask, setting.count)
    transport.close()
    return quantiles


async def round_trips(ask: Any, count: int) -> dict[str, float]:
    """Time calls of a coroutine function, after half as many to warm up."""
    times = []
    for _ in range(count // 2):
        await ask()
    for _ in range(count):
        began = time.perf_counter_ns()
        await ask()
        times.append(time.perf_counter_ns() - began)
    times.sort()
    return {"p50": times[count // 2] / 1e3, "p99": times[count * 99 // 100] / 1e3}
