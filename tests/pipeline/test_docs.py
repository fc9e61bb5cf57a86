"""The Python examples of the pipeline's pages run as they stand there."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["ingest.md", "sweep.md"])
def test_the_example_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In an empty folder, but for the traces that it reads; it leaves tables behind."""
    code = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)[-1]
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "traces" / "shop"
    source.mkdir(parents=True)
    (source / "messages.csv").write_text("sender,receiver,time\nweb,bank,1\nbank,web,2\n")
    names: dict[str, object] = {}
    exec(compile(code, page, "exec"), names)
    assert list(tmp_path.rglob("*.parquet"))
    if page == "ingest.md":
        assert len(names["shop"]) == 2  # type: ignore[arg-type]
    else:
        assert "hybrid" in capsys.readouterr().out
