"""Cluster keys: 32 random bytes shared by all nodes of a cluster.

A key is written as 64 hexadecimal digits, best in a file that only its owner can read. No error
repeats a value that could be a key: errors end up in logs.
"""

import os
import re
import stat
from typing import Final

from beforehand.errors import SecurityError

KEY_SIZE: Final = 32
NO_KEY: Final = bytes(KEY_SIZE)  # the placeholder of nodes without a key; never a valid key

HEX_DIGITS: Final = 2 * KEY_SIZE
MAX_FILE: Final = 4096  # bytes of a key file that are read: a key and some white space
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO  # permissions of group and others

_HEX = re.compile(r"[0-9a-fA-F]+")
_REMEDY = "make one with `beforehand keygen`"


def keygen() -> bytes:
    """A new cluster key."""
    return os.urandom(KEY_SIZE)


def load(value: bytes | str | os.PathLike[str] | None) -> bytes | None:
    """The key given as 32 bytes, 64 hexadecimal digits or the path of a key file."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return _checked(value, "the key")
    if isinstance(value, str) and (digits := _HEX.fullmatch(value.strip())):
        return _from_hex(digits.group(), "the key")
    if isinstance(value, str | os.PathLike):
        return _read(os.fspath(value))
    raise SecurityError(
        f"a key is 32 bytes, 64 hexadecimal digits or the path of a key file, "
        f"not {type(value).__name__}; {_REMEDY}"
    )


def save(key: bytes, path: str | os.PathLike[str]) -> None:
    """Write a key file that only its owner can read; never overwrites a file."""
    text = _checked(key, "the key").hex() + "\n"
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise SecurityError(
            f"{os.fspath(path)} already exists, and overwriting it would lose a key; "
            "choose another name, or remove the file first"
        ) from None
    except OSError as problem:
        raise SecurityError(
            f"cannot write key file {os.fspath(path)} ({problem.strerror})"
        ) from None
    try:
        with open(file, "w", encoding="ascii") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as problem:
        os.unlink(path)  # half a key is worse than none
        raise SecurityError(
            f"cannot write key file {os.fspath(path)} ({problem.strerror})"
        ) from None


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            # Of the open file, so that it cannot be replaced between check and read.
            mode = os.fstat(stream.fileno()).st_mode
            raw = stream.read(MAX_FILE)
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise SecurityError(f"the key file {path!r} cannot be read ({reason}); {_REMEDY}") from None
    if os.name == "posix" and mode & OTHERS:
        raise SecurityError(
            f"the key file {path} is accessible to others (mode {stat.S_IMODE(mode):04o}); "
            f"run `chmod 600 {path}`, and make a new key if it may have leaked"
        )
    text = raw.decode("ascii", "replace").strip()
    if not _HEX.fullmatch(text):
        raise SecurityError(f"the key file {path} does not hold 64 hexadecimal digits; {_REMEDY}")
    return _from_hex(text, f"the key in {path}")


def _from_hex(digits: str, what: str) -> bytes:
    if len(digits) != HEX_DIGITS:
        raise SecurityError(f"{what} has {len(digits)} hexadecimal digits, not 64; {_REMEDY}")
    return _checked(bytes.fromhex(digits), what)


def _checked(key: bytes, what: str) -> bytes:
    if len(key) != KEY_SIZE:
        raise SecurityError(
            f"{what} has {len(key)} bytes, not {KEY_SIZE}; {_REMEDY} (hexadecimal digits are a str)"
        )
    if key == NO_KEY:
        raise SecurityError(f"{what} is all zeros, which anyone can guess; {_REMEDY}")
    return key
