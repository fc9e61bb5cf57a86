"""The layout of the help pages: flags without a type, paragraphs that wrap, examples at the end."""

import inspect
from typing import Any

from rich.markup import escape
from typer.core import TyperArgument, TyperCommand, TyperGroup

from beforehand.cli.ui.examples import Example


class HelpCommand(TyperCommand):
    """A command whose help page omits Python types such as `<bool>`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, as the help page lists them."""
        return _without_types(super().get_params(ctx))


class HelpGroup(TyperGroup):
    """The same for the front page."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, as the help page lists them."""
        return _without_types(super().get_params(ctx))


def _without_types(options: list[Any]) -> list[Any]:
    for option in options:
        if isinstance(option, TyperArgument):  # `<list[str]>` explains nothing
            option.display_type_rich = lambda ctx: None  # type: ignore[method-assign]
        elif option.is_flag:
            option.metavar = ""
    return options


def wrapped(text: str | None) -> str:
    """A docstring with one line per paragraph, which the terminal wraps to its own width."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def epilog(examples: tuple[Example, ...], page: str) -> str:
    """Commands to copy, each under a line that explains it, and a link to the documentation."""
    shown = [f"[dim]# {escape(one.does)}[/dim]\n{escape(one.command)}" for one in examples]
    title = "[bold]Example[/bold]" if len(examples) == 1 else "[bold]Examples[/bold]"
    return "\n".join([title, *shown, f"\n[dim]More: {page}[/dim]"])
