"""The layout of the help pages: flags without a type, paragraphs that wrap, examples at the end."""

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import typer
from rich.markup import escape
from typer.core import TyperArgument, TyperCommand, TyperGroup

import beforehand
from beforehand.cli.ui import interrupts
from beforehand.cli.ui.examples import Example
from beforehand.cli.ui.exit_codes import ExitCode
from beforehand.cli.ui.failure import clear_errors, say
from beforehand.cli.ui.usage import usage_sentence

CHECKOUT: Final = Path(beforehand.__file__).parents[2]  # where this is a checkout and not a wheel


class HelpCommand(TyperCommand):
    """A command whose help page omits Python types such as `<bool>`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, as the help page lists them."""
        return _without_types(super().get_params(ctx))


class HelpGroup(TyperGroup):
    """The same for the front page; and the one place where commands end, however they end."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, as the help page lists them."""
        return _without_types(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run a command: errors and interruptions become a sentence and an exit code."""
        try:
            with clear_errors():
                return super().invoke(ctx)
        except KeyboardInterrupt as problem:
            interrupts.end(problem)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Parse the arguments, run the command and exit; wrong arguments are a sentence, too."""
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except typer.TyperException as problem:
            say(usage_sentence(problem))
            code = ExitCode.WRONG_INPUT
        if standalone_mode:
            sys.exit(code or ExitCode.FINE)
        return code


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
    """Commands to copy, each under a line that explains it, and the page to read on, if it is there.

    Wheels do not contain the documentation, so there the help pages do not refer to it.
    """
    shown = [f"[dim]# {escape(one.does)}[/dim]\n{escape(one.command)}" for one in examples]
    title = "[bold]Example[/bold]" if len(examples) == 1 else "[bold]Examples[/bold]"
    more = [f"\n[dim]More: {page}[/dim]"] if (CHECKOUT / page).is_file() else []
    return "\n".join([title, *shown, *more])
