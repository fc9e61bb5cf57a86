"""Keys are random, stored privately, read strictly, and never part of an error."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from beforehand.errors import SecurityError
from beforehand.runtime.identity import keys

KEY = bytes(range(1, 33))


def test_keys_are_random() -> None:
    """32 bytes, and never the same."""
    generated = {keys.keygen() for _ in range(100)}
    assert len(generated) == 100 and {len(key) for key in generated} == {32}


def test_a_key_is_accepted_in_every_form(tmp_path: Path) -> None:
    """Bytes, digits and files give the same key; without any of them there is none."""
    file = tmp_path / "cluster.key"
    keys.save(KEY, file)
    for value in (KEY, KEY.hex(), KEY.hex().upper(), f" {KEY.hex()}\n", file):
        assert keys.load(value) == KEY
    assert keys.load(str(file)) == KEY
    assert keys.load(None) is None


def test_a_key_file_is_for_its_owner(tmp_path: Path) -> None:
    """It holds the digits and a line end, and nobody else may read it, whatever the umask."""
    before = os.umask(0)
    try:
        keys.save(KEY, tmp_path / "cluster.key")
    finally:
        os.umask(before)
    file = tmp_path / "cluster.key"
    assert file.read_text() == KEY.hex() + "\n"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_key_file_is_not_overwritten(tmp_path: Path) -> None:
    """The old key stays, and the error has the remedy."""
    file = tmp_path / "cluster.key"
    keys.save(KEY, file)
    with pytest.raises(SecurityError, match="exists, .* choose another name, or remove"):
        keys.save(keys.keygen(), file)
    assert keys.load(file) == KEY


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o601])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    """The error names the file, its mode and the command that helps."""
    file = tmp_path / "cluster.key"
    keys.save(KEY, file)
    file.chmod(mode)
    with pytest.raises(SecurityError, match=rf"cluster.key .*\(mode {mode:04o}\); run `chmod 600 "):
        keys.load(file)
    file.chmod(0o400)
    assert keys.load(file) == KEY


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "does not hold 64 hexadecimal digits"),
        ("hello\n", "does not hold 64 hexadecimal digits"),
        ("ab" * 31, "has 62 hexadecimal digits, not 64"),
        ("ab" * 33, "has 66 hexadecimal digits, not 64"),
        ("ab" * 32 + "\n" + "cd" * 32, "does not hold 64 hexadecimal digits"),
        ("\N{SNOWMAN}", "does not hold 64 hexadecimal digits"),
        ("00" * 32, "is all zeros"),
        ("ab" * 100_000, "has 4096 hexadecimal digits, not 64"),
    ],
)
def test_a_file_without_a_key_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    """It is named in the error, with what is wrong with it and the remedy."""
    file = tmp_path / "cluster.key"
    file.write_text(content, encoding="utf-8")
    file.chmod(0o600)
    with pytest.raises(SecurityError, match=f"cluster.key.*{problem}.*`beforehand keygen`"):
        keys.load(file)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A missing file, a folder, or an invalid path."""
    for path in (tmp_path / "none", tmp_path, "nul\0byte"):
        with pytest.raises(SecurityError, match="the key file .* cannot be read"):
            keys.load(path)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """With the system's reason."""
    with pytest.raises(SecurityError, match=r"cannot write key file .*k \(No such file"):
        keys.save(KEY, tmp_path / "missing" / "k")


def test_half_a_key_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk the file that was begun is taken away again."""

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SecurityError, match="No space left on device"):
        keys.save(KEY, tmp_path / "cluster.key")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "value", [b"", KEY[:-1], KEY + b"x", KEY.hex().encode(), KEY.hex()[:-1], "0" * 64, bytes(32), 7]
)
def test_an_invalid_key_is_refused_without_repeating_it(value: Any) -> None:
    """A key with a digit too few must not be readable in a log."""
    with pytest.raises(SecurityError, match="`beforehand keygen`") as caught:
        keys.load(value)
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    assert len(text) < 3 or text not in str(caught.value)
