"""The examples of the runtime run unchanged, and demonstrate what they claim."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SHORT = 90  # lines that a new user can read in two minutes


def shown(name: str) -> str:
    """The output of an example, which fails if its claim does not hold."""
    script = EXAMPLES / name
    assert len(script.read_text().splitlines()) < SHORT
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_group_chat() -> None:
    """All 700 messages reach everybody although datagrams were lost, and no answer comes too early."""
    without, causal = shown("group_chat.py").split("hybrid-sps:")
    assert without.startswith("fifo:")
    faults = [int(number) for number in re.findall(r"(\d+) (?:datagrams|doubled|held)", causal)]
    assert len(faults) == 3 and min(faults) > 0, causal
    assert "700 messages seen by each of 4 members" in causal
    assert "  0 answers came before what they answer" in causal


def test_a_shop_and_a_bank() -> None:
    """No charge is refused, and nothing is left on the account."""
    last = shown("shop.py").splitlines()[-1]
    assert last == "hybrid-sps: 300 purchases, 0 charges refused, 0 left over"


def test_a_replicated_set() -> None:
    """The replicas agree, on more than nothing: the last lines list the same words."""
    text = shown("orset.py").split("hybrid-sps:")[1]
    assert "the replicas agree" in text
    assert len({line.partition(" has ")[2] for line in text.splitlines()[1:]}) == 1


def test_a_pipeline_with_a_slow_stage() -> None:
    """The camera is slowed down by the service that is two stages away."""
    lead = re.search(
        r"never ahead by more than (\d+)\n.* allow (\d+)", shown("pipeline_of_services.py")
    )
    assert lead is not None and 8 < int(lead[1]) <= int(lead[2])


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_every_example_is_run_by_a_test(name: str) -> None:
    """A new one needs a test, here or in test_readme.py."""
    tests = (Path(__file__), Path(__file__).with_name("test_readme.py"))
    assert any(f'"{name}"' in path.read_text() for path in tests)
