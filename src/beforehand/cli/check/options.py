"""The options of `beforehand check`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from beforehand.cli import options as shared
from beforehand.cli.options import ENGINE, NETWORK, OUTPUT, switch, value

_BOUNDS: Final = "Bounds"
_SEARCH: Final = "Search"
_bound = partial(value, panel=_BOUNDS)
_network = partial(value, panel=NETWORK)
_limit = partial(value, panel=_SEARCH)
_search = partial(switch, panel=_SEARCH)


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What to explore, how, and what to do with the verdict."""

    protocol: shared.Protocol = shared.DEFAULT_PROTOCOL
    processes: Annotated[
        int | None, _bound("NUMBER", "How many processes: a, b, c, ... Default: 3.")
    ] = None
    messages: Annotated[
        int | None, _bound("NUMBER", "How many messages each process sends. Default: 2.")
    ] = None
    sends: Annotated[
        str | None, _bound("NUMBERS", "The same, with a number for each process: 5,0,1.")
    ] = None
    program: Annotated[
        str | None,
        _bound(
            "STEPS",
            "Who sends to whom, each process in this order: 'a>b b>c a>b,c c>*'; a+c/b is a link "
            "that a opens to c through b.",
        ),
    ] = None
    multicast: Annotated[
        bool, switch("--multicast", "Explore messages to several receivers, too.", panel=_BOUNDS)
    ] = False
    faults: Annotated[
        str | None,
        _network(
            "FAULT=NUMBER,...",
            "How many faults there may be: loss=1,duplicate=1 of frames; and tick=1 for timers "
            "that fire early.",
        ),
    ] = None
    links: Annotated[
        str | None,
        _network("LINKS", "The links of an overlay: a-b,b>c; > is one way. Default: a ring."),
    ] = None
    tree: Annotated[
        str | None,
        _network(
            "CHILD:PARENT,...", "Parents in a tree: b:a,c:a. Default: a is the parent of all."
        ),
    ] = None
    opens: Annotated[
        list[str] | None,
        _network(
            "LINK",
            "A link that is opened at any moment: a+c, or a+c/b through b. Repeatable.",
            "--open",
        ),
    ] = None
    full: Annotated[
        bool,
        _search("--full", "Both of the following: slow, and without relying on any reduction."),
    ] = False
    no_reduction: Annotated[
        bool,
        _search(
            "--no-reduction",
            "Explore every order, also of steps that are independent of each other.",
        ),
    ] = False
    no_symmetry: Annotated[
        bool,
        _search("--no-symmetry", "Explore states that differ only in the names of processes, too."),
    ] = False
    depth_first: Annotated[
        bool,
        _search(
            "--depth-first",
            "Use less memory; a violation is then searched for a second time, to find the "
            "shortest run.",
        ),
    ] = False
    max_states: Annotated[
        int | None,
        _limit("NUMBER", "Give up after this many distinct states. Default: no limit.", min=1),
    ] = None
    time_limit: Annotated[
        str | None, _limit("TIME", "Give up after this time: 90s, 10m, 1h. Default: no limit.")
    ] = None
    workers: Annotated[
        int | None,
        _limit("NUMBER", "How many threads. Default: one for each core of this machine.", min=1),
    ] = None
    out: Annotated[
        Path | None,
        value(
            "PATH",
            "Save the run that breaks a promise as a trace: a folder, or a file that ends in "
            ".jsonl or .parquet.",
            panel=OUTPUT,
        ),
    ] = None
    as_json: shared.Json = False
    master: Annotated[
        str | None,
        value(
            "MASTER",
            "Explore on Spark, each part of the program as a task: local[2], spark://host:7077, "
            "yarn or k8s://... Default: without Spark.",
            panel=ENGINE,
        ),
    ] = None
    conf: shared.Conf = None
