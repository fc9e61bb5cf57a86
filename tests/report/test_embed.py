"""Embedded data can't end a script, the policy lists all scripts, and nothing is requested."""

import json
from base64 import b64encode
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.report import bundle


def _is_plain(text: str) -> bool:
    """Return whether no two surrogates form a pair, which JSON would decode as one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") == text


TEXT = st.text(st.characters(exclude_categories=()), max_size=40).filter(_is_plain)


@given(
    st.recursive(
        TEXT | st.integers() | st.none(),
        lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    )
)
def test_any_value_can_be_read_back(value: object) -> None:
    """For any text, including lone surrogates."""
    text = bundle.as_json(value)
    assert json.loads(text) == value
    text.encode()  # can be written to a file


@given(TEXT)
def test_no_text_can_leave_its_script_element(text: str) -> None:
    """Characters with a meaning in HTML and line separators of JavaScript are escaped."""
    assert not set(bundle.as_json([text])) & set("<>&\u2028\u2029")


def test_special_characters_are_escaped_and_not_dropped() -> None:
    """A closing script tag is read back unchanged."""
    text = bundle.as_json({"name": "</script><script>alert(1)</script><!--"})
    assert "\\u003c/script\\u003e" in text
    assert json.loads(text)["name"].startswith("</script>")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_json_cannot_represent_are_rejected(value: float) -> None:
    """A page with NaN in its data couldn't be parsed."""
    with pytest.raises(ValueError, match="JSON compliant"):
        bundle.as_json(value)


def test_the_policy_names_each_script_and_forbids_the_rest() -> None:
    """Only scripts with these hashes run, and nothing is ever fetched."""
    one, two = bundle.Script("let a = 1;"), bundle.script("theme.js")
    policy = bundle.policy([one, two])
    digest = b64encode(sha256(b"let a = 1;").digest()).decode()
    assert f"'sha256-{digest}'" in policy and two.source in policy
    assert "default-src 'none'" in policy
    assert "http" not in policy and "unsafe-eval" not in policy
    assert "script-src 'unsafe-inline'" not in policy


def test_a_page_without_scripts_allows_none() -> None:
    """An empty source list has a different meaning in a policy."""
    assert "script-src 'none'" in bundle.policy([])


def test_plotly_is_complete_and_cannot_end_its_element() -> None:
    """The library contains the text of a closing script tag."""
    text = bundle.plotly().text
    assert len(text) > 1_000_000 and "plotly.js" in text[:500]
    assert "</script" not in text.lower()
