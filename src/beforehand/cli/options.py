"""The options of the command line: how commands declare theirs, and those that several share.

A command with many options declares them as the fields of a dataclass, `takes` them, and hands the whole
or a `selection` on. An option that more than one command has is declared here, once.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from beforehand.cli.ui import completion
from beforehand.cli.ui.failure import DEBUG_FLAG, enable_debugging
from beforehand.errors import ScenarioError

if TYPE_CHECKING:
    from beforehand.cli.engine import EngineOptions
    from beforehand.pipeline.ingest import Options

# The panels of the help pages that several commands have.
NETWORK: Final = "Network"
FAULTS: Final = "Faults"
SOURCE: Final = "Source"
OUTPUT: Final = "Output"
ENGINE: Final = "Engine"

# That of the library, `protocols.DEFAULT`, without importing it for a help page; a test compares.
DEFAULT_PROTOCOL: Final = "hybrid-sps"
LARGEST_SEED: Final = 2**63 - 1  # tables hold seeds as integers of 64 bits

_Options = TypeVar("_Options")

# ---- how commands declare options ----


def value(metavar: str, text: str, *flags: str, panel: str | None = None, **more: Any) -> Any:
    """An option with a value; its help shows a default unless that is None."""
    return typer.Option(*flags, metavar=metavar, help=text, rich_help_panel=panel, **more)


def switch(flag: str, text: str, *, panel: str | None = None) -> Any:
    """An option without a value."""
    return typer.Option(flag, help=text, rich_help_panel=panel)


def share(text: str, *, panel: str | None = None) -> Any:
    """An option for a share, written like 0.1 or 10%."""
    return value("SHARE", f"{text}: 0.1, or 10%.", panel=panel, parser=_parse_share)


def _parse_share(text: str) -> float:
    from beforehand.simulator import units

    try:
        return units.share(text, "")
    except ScenarioError as problem:
        raise typer.BadParameter(str(problem).removeprefix(": ")) from None


def takes(declared: type[_Options]) -> Callable[[Callable[[_Options], None]], Callable[..., None]]:
    """Make a function of a dataclass a command that has the fields of the dataclass as its options."""

    def decorate(function: Callable[[_Options], None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            function(declared(**values))

        command.__doc__ = function.__doc__
        command.__signature__ = inspect.signature(declared, eval_str=True)  # type: ignore[attr-defined]
        return command

    return decorate


def with_debug(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option `--debug`, after its own."""

    def command(*, debug: bool, **values: Any) -> None:
        function(**values)

    own = inspect.signature(function, eval_str=True)
    debug = inspect.Parameter(
        "debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug
    )
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in own.parameters.values()
    ]
    command.__doc__ = function.__doc__
    command.__signature__ = own.replace(parameters=[*parameters, debug])  # type: ignore[attr-defined]
    return command


def selection(options: object, target: Any) -> dict[str, Any]:
    """The options that are fields of another dataclass, to construct it with."""
    names = (field.name for field in fields(target))
    return {name: getattr(options, name) for name in names if hasattr(options, name)}


# ---- shared by several commands ----

Debug = Annotated[
    bool,
    typer.Option(
        DEBUG_FLAG,
        help="Show the traceback of an error, too.",
        rich_help_panel=OUTPUT,
        callback=enable_debugging,
        expose_value=False,
        is_eager=True,
    ),
]

Json = Annotated[bool, switch("--json", "Print JSON, for programs.", panel=OUTPUT)]
Force = Annotated[
    bool, switch("--force", "Replace the results that --out already holds.", panel=OUTPUT)
]
Seed = Annotated[int, value("NUMBER", "The seed of every random choice.")]
StoredSeed = Annotated[
    int, value("NUMBER", "The seed of every random choice.", min=0, max=LARGEST_SEED)
]
Protocol = Annotated[
    str,
    value(
        "NAME", "Which protocol: see `beforehand protocols`.", autocompletion=completion.protocol
    ),
]
Loss = Annotated[float, share("Share of packets that are lost", panel=FAULTS)]
Duplicate = Annotated[float, share("Share of packets that arrive twice", panel=FAULTS)]
Run = Annotated[str | None, value("NAME", "Which run. Default: the largest.", panel=SOURCE)]
Format = Annotated[
    str,
    value(
        "FORMAT",
        f"The format of the files: {', '.join(completion.FORMATS[:-1])} or {completion.FORMATS[-1]}.",
        "--format",
        panel=SOURCE,
        autocompletion=completion.file_format,
    ),
]
Columns = Annotated[
    list[str] | None,
    value(
        "NAME=COLUMN,...",
        "Which columns hold what: trace=TraceID,start=began:us for spans, "
        "sender=1,receiver=2,time=3:ms for lists. Repeatable.",
        "--map",
        panel=SOURCE,
    ),
]
Pattern = Annotated[
    str | None,
    value(
        "REGEX", r"ShiViz: an event, as in (?<event>.*)\n(?<host>\S*) (?<clock>{.*}).", panel=SOURCE
    ),
]
Delimiter = Annotated[
    str | None,
    value(
        "REGEX",
        "ShiViz: what separates two executions, as in ^=== (?<trace>.*) ===$.",
        panel=SOURCE,
    ),
]
Engine = Annotated[
    str | None,
    value(
        "NAME",
        "spark or local. local needs no Java and is faster for little data. Default: spark, or local "
        "where Java is missing.",
        panel=ENGINE,
    ),
]
Master = Annotated[
    str | None,
    value(
        "MASTER",
        "Where to run: local[*] (all cores of this machine, the default), local[2], "
        "spark://host:7077, yarn or k8s://...",
        panel=ENGINE,
    ),
]
Conf = Annotated[
    list[str] | None,
    value(
        "KEY=VALUE", "A setting of Spark, such as spark.driver.memory=6g. Repeatable.", panel=ENGINE
    ),
]


@dataclass(frozen=True, kw_only=True)
class SourceOptions:
    """How to read files of other tools, and what ingest and study share besides."""

    format_name: Format = "auto"
    columns: Columns = None
    pattern: Pattern = None
    delimiter: Delimiter = None
    force: Force = False
    as_json: Json = False
    engine: Engine = None
    master: Master = None
    conf: Conf = None

    def engine_options(self) -> "EngineOptions":
        """Where to run."""
        from beforehand.cli.engine import EngineOptions

        return EngineOptions(self.engine, self.master, self.conf)

    def reading(self) -> "Options":
        """How ingest reads the files."""
        from beforehand.pipeline import ingest

        columns = ingest.columns_of(self.columns or [])
        return ingest.Options(self.format_name, columns, self.pattern, self.delimiter)


def protocols(default: str = "", panel: str | None = None) -> Any:
    """Several protocols; `default` is a sentence on what is used without the option."""
    text = f"Which protocols: hybrid,rst or repeated; see `beforehand protocols`. {default}".strip()
    return value("NAMES", text, panel=panel, autocompletion=completion.protocol_list)


def networks(text: str, panel: str | None = None) -> Any:
    """Several networks."""
    return value("NAMES", text, panel=panel, autocompletion=completion.network_list)
