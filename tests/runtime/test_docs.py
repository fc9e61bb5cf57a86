"""docs/runtime.md is correct: its session runs, and its tables are complete."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path

import pytest

from beforehand import Node
from beforehand.runtime import events, settings
from beforehand.runtime.engine.outbox import MAX_PAYLOAD
from beforehand.runtime.events import MAX_HISTORY
from beforehand.runtime.node import WINDOW, WINDOW_BYTES

DOCS = (Path(__file__).parents[2] / "docs" / "runtime.md").read_text()
FENCES = re.findall(r"^```(\w*)\n(.*?)^```", DOCS, re.DOTALL | re.MULTILINE)


def test_the_session_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Every block, one after the other, with `await` at the top level."""
    assert len(FENCES) >= 10 and all(language == "python" for language, _ in FENCES)

    async def session() -> None:
        names: dict[str, object] = {}
        try:
            for _, block in FENCES:
                code = compile(block, "runtime.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
                coroutine = eval(code, names)
                if coroutine is not None:  # a block without await has run already
                    await coroutine
        finally:
            for node in names.values():
                if isinstance(node, Node):
                    await node.close(0)

    asyncio.run(asyncio.wait_for(session(), 30))
    shown = capsys.readouterr().out
    assert "alice: small has 8 messages of 8 bytes to take before it gets more; " in shown
    assert "small: dropped" in shown and "carol: dropped, it has left" in shown


def test_every_event_is_explained() -> None:
    """Every kind of event has a row in the table."""
    kinds = [value for name, value in vars(events).items() if name.isupper() and type(value) is str]
    assert re.findall(r"^\| `([a-z-]+)` \|", DOCS, re.MULTILINE) == kinds


def test_the_limits_are_those_of_the_code() -> None:
    """Numbers in the text and in the code."""
    assert f"| a payload | {MAX_PAYLOAD // 2**20} MiB;" in DOCS
    assert f"| a name | {settings.MAX_NAME} bytes" in DOCS
    assert f"| events for late listeners | the last {MAX_HISTORY:,} |" in DOCS
    assert f"`window={WINDOW:_}` messages and `window_bytes={WINDOW_BYTES // 2**20} MiB`" in DOCS


def test_every_public_call_is_mentioned() -> None:
    """Every method and argument of `Node` is documented."""
    calls = {name for name, _ in inspect.getmembers(Node, callable) if not name.startswith("_")}
    arguments = set(inspect.signature(Node.__init__).parameters) - {"self", "name"}
    unexplained = {name for name in calls | arguments if not re.search(rf"\b{name}\b", DOCS)}
    assert not unexplained, unexplained
