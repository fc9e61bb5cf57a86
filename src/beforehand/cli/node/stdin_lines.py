"""The lines of standard input for an event loop, from a terminal, a pipe or a file."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

READ: Final = 65_536
MOST_CHUNKS: Final = 4  # read ahead; the rest stays in the pipe or the file


async def stdin_lines(descriptor: int) -> AsyncIterator[bytes]:
    """Each line without its newline. A thread reads them, since event loops cannot wait for files.

    It reads the descriptor: a thread that blocks in `sys.stdin` would keep the interpreter from exiting.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(MOST_CHUNKS)

    def read() -> None:
        chunk = b"first"
        with suppress(RuntimeError):  # the loop is closed
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
