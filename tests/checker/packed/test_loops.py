"""What is compiled is compiled again when a source of it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beforehand._kernel import stamp
from beforehand.checker.packed import loops


def test_a_stamp_changes_with_any_source(tmp_path: Path) -> None:
    """With one that is changed, and with one more."""
    (tmp_path / "a.py").write_text("x = 1\n")
    stamps = {stamp(tmp_path)}
    (tmp_path / "a.py").write_text("x = 2\n")
    stamps.add(stamp(tmp_path))
    (tmp_path / "b.py").write_text("")
    (tmp_path / "c.py").write_text("y = 1\n")
    stamps.add(stamp(tmp_path))
    assert len(stamps) == 3 and 0 not in stamps


def test_the_loops_hold_the_stamp_of_their_folder() -> None:
    """In an enclosing function, where numba looks before it uses what it kept on disk."""
    expected = stamp(Path(loops.__file__).parent)
    for loop in (loops.expand, loops.keep, loops.print_of):
        function: Any = getattr(loop, "py_func", loop)
        assert [cell.cell_contents for cell in function.__closure__] == [expected]
