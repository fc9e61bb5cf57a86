"""Run code in a pseudo-terminal of a given width and capture what it prints."""

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
# Variables that affect colours and widths; only the test itself may set them.
_TERMINAL_VARIABLES = (
    "NO_COLOR",
    "FORCE_COLOR",
    "TERM",
    "COLUMNS",
    "LINES",
    "TTY_COMPATIBLE",
    "COLORTERM",
)


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of the test process without its terminal settings."""
    inherited = {
        name: value for name, value in os.environ.items() if name not in _TERMINAL_VARIABLES
    }
    return {**inherited, "TERM": "xterm-256color", **variables}


def on_terminal(code: str, columns: int = 80, **variables: str) -> str:
    """Run Python code in a terminal; return both streams as printed, escape sequences included."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment(**variables)
    ) as process:
        os.close(terminal)
        output = b""
        try:
            while chunk := os.read(controller, 65_536):
                output += chunk
        except OSError:  # Linux reports a closed peer as EIO
            pass
        assert process.wait() == 0, output
    os.close(controller)
    return output.decode()


def plain(output: str) -> str:
    """Remove escape sequences."""
    return _ESCAPE.sub("", output).replace("\r\n", "\n")
