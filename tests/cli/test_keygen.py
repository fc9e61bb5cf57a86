"""`beforehand keygen`: a key on standard output or in a private file."""

import json
from pathlib import Path

from typer.testing import CliRunner

from beforehand.cli import app
from beforehand.runtime.identity import keys

runner = CliRunner()


def test_a_key_is_printed() -> None:
    """64 hexadecimal digits and nothing else, different each time, and accepted by a node."""
    first, second = (runner.invoke(app, ["keygen"]) for _ in range(2))
    assert first.exit_code == second.exit_code == 0
    assert first.stdout != second.stdout
    assert len(first.stdout) == 65
    assert keys.load(first.stdout) == bytes.fromhex(first.stdout)


def test_a_key_is_written(tmp_path: Path) -> None:
    """To a new file with mode 600; the key itself isn't printed."""
    file = tmp_path / "cluster.key"
    result = runner.invoke(app, ["keygen", "--out", str(file)])
    assert result.exit_code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    key = keys.load(file)
    assert key is not None and key.hex() not in result.output
    assert str(file) in result.output


def test_json_output(tmp_path: Path) -> None:
    """Either the key or the path of its file, never both."""
    printed = json.loads(runner.invoke(app, ["keygen", "--json"]).stdout)
    assert list(printed) == ["key"] and len(bytes.fromhex(printed["key"])) == 32
    file = tmp_path / "cluster.key"
    result = runner.invoke(app, ["keygen", "--json", "--out", str(file)])
    assert json.loads(result.stdout) == {"file": str(file)}
    assert keys.load(file) is not None


def test_a_key_is_not_overwritten(tmp_path: Path) -> None:
    """One sentence, exit code 2, and the old file is unchanged."""
    file = tmp_path / "cluster.key"
    file.write_text("precious")
    result = runner.invoke(app, ["keygen", "--out", str(file)])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"beforehand: {file} already exists, and overwriting it")
    assert file.read_text() == "precious"


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    """One line with the reason, not a traceback."""
    result = runner.invoke(app, ["keygen", "--out", str(tmp_path / "none" / "cluster.key")])
    assert result.exit_code == 2
    assert "No such file or directory" in result.stderr
