"""How the help pages look: flags without a type, paragraphs that wrap, examples at the end."""

from __future__ import annotations

import inspect
from typing import Any

from rich.markup import escape
from typer.core import TyperArgument, TyperCommand, TyperGroup

from beforehand.cli.ui.examples import Example


class Command(TyperCommand):
    """A command whose help page says nothing of `<bool>`: a flag is given or it is not."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, as the help page lists them."""
        return _without_types(super().get_params(ctx))


class Group(TyperGroup):
    """The same for the front page."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, as the help page lists them."""
        return _without_types(super().get_params(ctx))


def _without_types(options: list[Any]) -> list[Any]:
    for option in options:
        if isinstance(option, TyperArgument):  # `<list[str]>` tells nobody anything
            option.display_type_rich = lambda ctx: None  # type: ignore[method-assign]
        elif option.is_flag:
            option.metavar = ""
    return options


def wrapped(text: str | None) -> str:
    """A docstring with one line for each paragraph: terminals wrap at a width of their own."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)


def epilog(examples: tuple[Example, ...], page: str) -> str:
    """Commands to copy, each under a line that says what it does, and where to read on."""
    shown = [f"[dim]# {escape(each.does)}[/dim]\n{escape(each.command)}" for each in examples]
    title = "[bold]Example[/bold]" if len(examples) == 1 else "[bold]Examples[/bold]"
    return "\n".join([title, *shown, f"\n[dim]More: {page}[/dim]"])
