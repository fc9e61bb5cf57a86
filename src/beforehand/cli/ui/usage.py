"""Errors of the argument parser, in the style of all others: one sentence, and where to read on."""

import re
from typing import Any, Final

import typer

_MISSING: Final = re.compile(r"Missing (argument|option) '(.*?)'\.?")
_INVALID: Final = re.compile(r"Invalid value for '(.*?)': (.*)", re.DOTALL)
_NO_OPTION: Final = re.compile(r"No such option: (\S+)")
_NO_COMMAND: Final = re.compile(r"No such command '(.*?)'\.?")
_UNEXPECTED: Final = re.compile(r"Got unexpected extra argument\S* \((.*)\)")


def usage_sentence(problem: typer.TyperException) -> str:
    """A usage error as a sentence."""
    context: Any = getattr(problem, "ctx", None)
    command = context.command_path if context is not None else "beforehand"
    text = " ".join(str(getattr(problem, "format_message", problem.__str__)()).split())
    return f"{_what(text, problem)}; see `{command} --help`"


def _what(text: str, problem: Any) -> str:
    if match := _NO_OPTION.match(text):
        similar = " or ".join(sorted(getattr(problem, "possibilities", None) or ()))
        return f"there is no option {match[1]}" + (f" (did you mean {similar}?)" if similar else "")
    if match := _NO_COMMAND.match(text):
        similar = text[match.end() :].strip()
        return f"there is no command {match[1]}" + (f" ({_sentence(similar)})" if similar else "")
    if match := _MISSING.match(text):
        return f"{match[2]} is missing"
    if match := _INVALID.match(text):
        return f"{match[1]}: {_sentence(match[2].removeprefix('Value error, '))}"
    if match := _UNEXPECTED.match(text):
        return f"too many arguments: {match[1]}"
    return _sentence(text)


def _sentence(text: str) -> str:
    text = text.strip().rstrip(".")
    return text[:1].lower() + text[1:]
