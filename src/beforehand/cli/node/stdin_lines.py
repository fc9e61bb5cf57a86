"""The lines of the standard input, in an event loop, whatever it is: a terminal, a pipe or a file."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

READ: Final = 65_536
MOST_CHUNKS: Final = 4  # read ahead; the rest waits in the pipe or in the file


async def typed_lines(descriptor: int) -> AsyncIterator[bytes]:
    """Each line without its end. A thread reads them, since loops cannot wait for files.

    By the descriptor: a thread inside of `sys.stdin` would be in the way when the interpreter ends.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(MOST_CHUNKS)

    def read() -> None:
        chunk = b"first"
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            while chunk:
                room.acquire()
                try:
                    chunk = os.read(descriptor, READ)
                except OSError:  # the terminal is gone
                    chunk = b""
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)

    threading.Thread(target=read, name="standard input", daemon=True).start()
    rest = b""
    while chunk := await chunks.get():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line
        room.release()
    if rest:
        yield rest
