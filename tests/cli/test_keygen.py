"""`beforehand keygen`: a key on the screen or in a file of one's own."""

import json
from pathlib import Path

from typer.testing import CliRunner

from beforehand.cli import app
from beforehand.runtime.identity import keys

runner = CliRunner()


def test_a_key_is_printed() -> None:
    """64 hexadecimal digits and nothing else, other ones each time, and a node takes them."""
    first, second = (runner.invoke(app, ["keygen"]) for _ in range(2))
    assert first.exit_code == second.exit_code == 0
    assert first.stdout != second.stdout
    assert len(first.stdout) == 65
    assert keys.load(first.stdout) == bytes.fromhex(first.stdout)


def test_a_key_is_written(tmp_path: Path) -> None:
    """Into a new file for the owner alone; the key itself is not shown."""
    file = tmp_path / "cluster.key"
    result = runner.invoke(app, ["keygen", "--out", str(file)])
    assert result.exit_code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    key = keys.load(file)
    assert key is not None and key.hex() not in result.output
    assert str(file) in result.output


def test_programs_get_json(tmp_path: Path) -> None:
    """The key, or where it is, and never both."""
    told = json.loads(runner.invoke(app, ["keygen", "--json"]).stdout)
    assert list(told) == ["key"] and len(bytes.fromhex(told["key"])) == 32
    file = tmp_path / "cluster.key"
    result = runner.invoke(app, ["keygen", "--json", "--out", str(file)])
    assert json.loads(result.stdout) == {"file": str(file)}
    assert keys.load(file) is not None


def test_a_key_is_not_overwritten(tmp_path: Path) -> None:
    """One sentence, exit code 2, and the old file as it was."""
    file = tmp_path / "cluster.key"
    file.write_text("precious")
    result = runner.invoke(app, ["keygen", "--out", str(file)])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"beforehand: {file} already exists, and overwriting it")
    assert file.read_text() == "precious"


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    """No traceback either where the file cannot be made."""
    result = runner.invoke(app, ["keygen", "--out", str(tmp_path / "none" / "cluster.key")])
    assert result.exit_code == 2
    assert "No such file or directory" in result.stderr
