"""The `beforehand` command, as a script and as `python -m beforehand`."""

import os
import signal
from types import FrameType


def main() -> None:
    """Load the command line, which takes a moment, and run it."""
    signal.signal(signal.SIGINT, _not_started)
    from beforehand.cli import main as run

    run()


def _not_started(number: int, frame: FrameType | None) -> None:
    os.write(2, b"beforehand: interrupted; nothing was started\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
