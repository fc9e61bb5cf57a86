"""docs/wire-format.md is accurate and complete."""

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
    """Parse a block: the frame in its first line, and the bytes before the notes of the others."""
    first, *lines = block.splitlines()
    classes = {cls.__name__: cls for cls in frame_classes()}
    values = {"Control": Control, "frozenset": frozenset, "__builtins__": {}}
    frame = eval(first, {**classes, **values})
    assert isinstance(frame, Frame)
    fields = [re.split(r"\s{2,}", line, maxsplit=1) for line in lines]
    assert all(len(field) == 2 for field in fields), f"a line without bytes or note: {block}"
    return frame, bytes.fromhex("".join(field[0] for field in fields))


@pytest.mark.parametrize("block", BLOCKS, ids=[block.split("(")[0] for block in BLOCKS])
def test_examples(block: str) -> None:
    """The frame encodes to the bytes, and the bytes decode to the frame."""
    frame, data = example(block)
    assert wire.encode(frame) == data
    assert wire.decode(data) == frame


def test_every_frame_has_an_example() -> None:
    """Implementations in other languages need all of them."""
    assert {type(example(block)[0]) for block in BLOCKS} == frame_classes()


def test_the_table_of_tags() -> None:
    """It has all tags of the code, each with the right frame."""
    documented = dict(re.findall(r"^\| `([0-9a-f]{2})` \| (\w+)", TEXT, re.MULTILINE))
    defined = {value for name, value in vars(tags).items() if name.isupper()} - {tags.MARKER}
    assert {int(tag, 16) for tag in documented} == defined
    for block in BLOCKS:
        frame, data = example(block)
        if not data[0] & tags.MARKER:
            assert documented[f"{data[0]:02x}"] == type(frame).__name__
