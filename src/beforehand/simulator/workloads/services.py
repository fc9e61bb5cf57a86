"""Traffic of services that work for each other: deliveries cause sends."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from beforehand.simulator.workloads.workload import Stage, Step, Stepping
from beforehand.simulator.world.distributions import Distribution
from beforehand.simulator.world.processes import Message, Process
from beforehand.simulator.world.random_streams import Stream


def layers_of(processes: list[Process], count: int) -> list[list[Process]]:
    """Cut the processes into layers of about the same size; there are at least that many."""
    bounds = [len(processes) * place // count for place in range(count + 1)]
    return [processes[bounds[place] : bounds[place + 1]] for place in range(count)]


class Choices:
    """Random choices of processes that act on deliveries, each from a stream of its own."""

    def __init__(self) -> None:
        self._streams: list[Stream] = []

    def prepare(self, stage: Stage) -> None:
        """Make the streams."""
        self._streams = [stage.stream(f"choices/{process.name}") for process in stage.processes]

    def below(self, process: Process, count: i64) -> i64:
        """One of 0, 1, ... count - 1."""
        return self._streams[process.index].below(count)


class LayeredTraffic(Stepping):
    """Services in layers; those of the first act of their own accord."""

    def __init__(self, steps: int, interval: Distribution, layers: int) -> None:
        super().__init__(steps, interval)
        self.layers = layers
        self._layers: list[list[Process]] = []
        self._layer_of: list[int] = []
        self._choices = Choices()

    def prepare(self) -> None:
        self._choices.prepare(self.stage)
        self._layers = layers_of(self.stage.processes, self.layers)
        self._layer_of = []
        for number, layer in enumerate(self._layers):
            self._layer_of.extend([number] * len(layer))

    def steppers(self) -> list[Process]:
        return self._layers[0]


class PipelineTraffic(LayeredTraffic):
    """Items go through stages: what a process of one stage gets, it passes to one of the next."""

    def act(self, process: Process, step: Step) -> None:
        self._pass_on(process)

    def delivered(self, process: Process, message: Message) -> None:
        self._pass_on(process)

    def _pass_on(self, process: Process) -> None:
        following = self._layer_of[process.index] + 1
        if following < self.layers:
            layer = self._layers[following]
            self.stage.send(process, [layer[self._choices.below(process, len(layer))]], None)

    def expected(self) -> int:
        return self.steps * len(self._layers[0]) * (self.layers - 1)


class Call:
    """A request from one service to another, and what is still missing before its answer."""

    def __init__(self, caller: Process, callee: Process, parent: Call | None) -> None:
        self.caller = caller
        self.callee = callee
        self.parent = parent
        self.answered = False
        self.missing = 0  # answers to what its callee asked on its behalf


class FanOutTraffic(LayeredTraffic):
    """Requests enter at the first layer; each service asks some of the next layer before it answers.

    A service of the last layer answers at once. One in between answers its caller when all that it
    asked have answered; whoever was dropped counts as having done so.
    """

    def __init__(self, steps: int, interval: Distribution, layers: int, width: int) -> None:
        super().__init__(steps, interval, layers)
        self.width = width
        self._open: list[dict[Call, bool]] = []  # process -> the calls whose answer it waits for

    def prepare(self) -> None:
        super().prepare()
        self._open = [{} for _ in self.stage.processes]

    def act(self, process: Process, step: Step) -> None:
        self._ask(process, None)

    def delivered(self, process: Process, message: Message) -> None:
        call = message.note
        assert isinstance(call, Call)
        if call.callee is process:
            if self._layer_of[process.index] + 1 < self.layers:
                self._ask(process, call)
            else:
                self.stage.send(process, [call.caller], call)
        else:
            self._answered(process, call)

    def _ask(self, process: Process, parent: Call | None) -> None:
        """Ask several services of the next layer, on behalf of a call or of nobody."""
        layer = self._layers[self._layer_of[process.index] + 1]
        wanted = min(self.width, len(layer))
        chosen: dict[int, Process] = {}
        while len(chosen) < wanted:
            service = layer[self._choices.below(process, len(layer))]
            chosen[int(service.index)] = service
        calls = [Call(process, service, parent) for service in chosen.values()]
        if parent is not None:
            parent.missing = len(calls)
        for call in calls:
            self._open[process.index][call] = True
        for call in calls:
            self.stage.send(process, [call.callee], call)

    def _answered(self, process: Process, call: Call) -> None:
        if call.answered:
            return
        call.answered = True
        del self._open[process.index][call]
        parent = call.parent
        if parent is not None:
            parent.missing -= 1
            if parent.missing == 0:
                self.stage.send(process, [parent.caller], parent)

    def dropped(self, process: Process, peer: Process) -> None:
        for call in [call for call in self._open[process.index] if call.callee is peer]:
            self._answered(process, call)

    def skipped(self, process: Process, note: object) -> None:
        assert isinstance(note, Call)
        if note.caller is process:  # a request; an answer to the dead is owed to nobody
            self._answered(process, note)

    def expected(self) -> int:
        requests = 0
        width = 1
        for layer in self._layers[1:]:
            width *= min(self.width, len(layer))
            requests += width
        return self.steps * len(self._layers[0]) * 2 * requests


class Request:
    """What a client asks a server; the reply carries it too."""

    def __init__(self, server: Process, step: Step) -> None:
        self.server = server
        self.step = step  # the client's, to go on with after the reply


class RequestReplyTraffic(Stepping):
    """Clients ask a random server, wait for its reply, think for an interval, and ask again."""

    def __init__(self, steps: int, interval: Distribution, server_share: float) -> None:
        super().__init__(steps, interval)
        self.server_share = server_share
        self._servers: list[Process] = []
        self._asked: list[Request | None] = []  # client -> what it waits to be answered

    def prepare(self) -> None:
        processes = self.stage.processes
        count = min(max(1, int(self.server_share * len(processes) + 0.5)), len(processes) - 1)
        self._servers = processes[:count]
        self._asked = [None] * len(processes)

    def steppers(self) -> list[Process]:
        return self.stage.processes[len(self._servers) :]

    def step(self, process: Process, event: Step) -> None:
        request = Request(event.choose(self._servers), event)
        self._asked[process.index] = request
        self.stage.send(process, [request.server], request)

    def delivered(self, process: Process, message: Message) -> None:
        request = message.note
        assert isinstance(request, Request)
        if request.server is process:
            self.stage.send(process, [message.sender], request)
        else:
            self._over(process, request)

    def _over(self, client: Process, request: Request) -> None:
        """A request was answered, or never will be; once is enough."""
        if self._asked[client.index] is request:
            self._asked[client.index] = None
            self.again(request.step)

    def dropped(self, process: Process, peer: Process) -> None:
        request = self._asked[process.index]
        if request is not None and request.server is peer:
            self._over(process, request)

    def skipped(self, process: Process, note: object) -> None:
        assert isinstance(note, Request)
        if note.server is not process:
            self._over(process, note)

    def expected(self) -> int:
        return 2 * self.steps * (len(self.stage.processes) - len(self._servers))


class ShopTraffic(Stepping):
    """Customers buy: a credit to the bank, then the order to the shop, which debits at the bank.

    The example of paper 003: a debit must not arrive before the credit that covers it. The last two
    processes are the shop and the bank.
    """

    def steppers(self) -> list[Process]:
        return self.stage.processes[:-2]

    def act(self, process: Process, step: Step) -> None:
        shop, bank = self.stage.processes[-2:]
        self.stage.send(process, [bank], CREDIT)
        self.stage.send(process, [shop], BUY)

    def delivered(self, process: Process, message: Message) -> None:
        if message.note is BUY:
            self.stage.send(process, [self.stage.processes[-1]], DEBIT)

    def expected(self) -> int:
        return 3 * self.steps * (len(self.stage.processes) - 2)


# What a message is for. Compared by identity.
CREDIT: Final[object] = "credit"
BUY: Final[object] = "buy"
DEBIT: Final[object] = "debit"
