"""A terminal for a command: a pseudo-terminal of a given width."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

COLOUR = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3[0-9]|4[0-9]|9[0-7]|10[0-7])(?:;[0-9]+)*m")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
# What makes a difference to colours and widths is for the test to say.
_OURS = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS", "LINES", "TTY_COMPATIBLE", "COLORTERM")


def environment(**more: str) -> dict[str, str]:
    """The environment of the tests, without what it says about terminals."""
    plain = {name: value for name, value in os.environ.items() if name not in _OURS}
    return {**plain, "TERM": "xterm-256color", **more}


def on_terminal(code: str, columns: int = 80, **more: str) -> str:
    """What Python code shows on a terminal, on both streams, with its escapes."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment(**more)
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65_536):
                shown += part
        except OSError:  # how Linux says that nobody is at the other end any more
            pass
        assert process.wait() == 0, shown
    os.close(ours)
    return shown.decode()


def plain(shown: str) -> str:
    """The text without escapes."""
    return _ESCAPE.sub("", shown).replace("\r\n", "\n")
