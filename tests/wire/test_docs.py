"""docs/wire-format.md tells the truth, and all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from beforehand import wire
from beforehand.protocols import tags
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.frames import Control
from tests.wire.frames import frame_classes

TEXT = (Path(__file__).parents[2] / "docs" / "wire-format.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```wire\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def example(block: str) -> tuple[Frame, bytes]:
    """The frame in the first line of a block, and the bytes in front of the notes of the others."""
    first, *lines = block.splitlines()
    names = {each.__name__: each for each in frame_classes()}
    values = {"Control": Control, "frozenset": frozenset, "__builtins__": {}}
    frame = eval(first, {**names, **values})
    assert isinstance(frame, Frame)
    fields = [re.split(r"\s{2,}", line, maxsplit=1) for line in lines]
    assert all(len(field) == 2 for field in fields), f"a line without bytes or note: {block}"
    return frame, bytes.fromhex("".join(field[0] for field in fields))


@pytest.mark.parametrize("block", BLOCKS, ids=[block.split("(")[0] for block in BLOCKS])
def test_examples(block: str) -> None:
    """The frame gives the bytes, and the bytes the frame."""
    frame, data = example(block)
    assert wire.encode(frame) == data
    assert wire.decode(data) == frame


def test_every_frame_has_an_example() -> None:
    """A frame that is not in the documentation cannot be written in another language."""
    assert {type(example(block)[0]) for block in BLOCKS} == frame_classes()


def test_the_table_of_tags() -> None:
    """The tags are those of the code, and each names the frame that really has it."""
    told = dict(re.findall(r"^\| `([0-9a-f]{2})` \| (\w+)", TEXT, re.MULTILINE))
    known = {value for name, value in vars(tags).items() if name.isupper()} - {tags.MARKER}
    assert {int(tag, 16) for tag in told} == known
    for block in BLOCKS:
        frame, data = example(block)
        if not data[0] & tags.MARKER:
            assert told[f"{data[0]:02x}"] == type(frame).__name__
