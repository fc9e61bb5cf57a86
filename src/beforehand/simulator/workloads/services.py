"""Traffic of services that call each other: deliveries cause sends."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from beforehand.simulator.workloads.workload import PacedStep, PacedWorkload
from beforehand.simulator.world.distributions import Distribution
from beforehand.simulator.world.processes import OpenMessage, Process
from beforehand.simulator.world.random_streams import Stream


class LayeredTraffic(PacedWorkload):
    """Services in layers; those of the first layer act of their own accord."""

    def __init__(self, steps: int, interval: Distribution, layers: int) -> None:
        super().__init__(steps, interval)
        self.layers = layers
        self._layers: list[list[Process]] = []  # of about the same size
        self._layer_of: list[int] = []  # process -> its layer
        self._streams: list[Stream] = []  # process -> the random numbers of its reactions

    def prepare(self) -> None:
        application, processes = self.application, self.application.processes
        self._streams = [application.stream(f"choices/{process.name}") for process in processes]
        bounds = [len(processes) * layer // self.layers for layer in range(self.layers + 1)]
        self._layers = [processes[start:end] for start, end in pairwise(bounds)]
        self._layer_of = [
            number for number, layer in enumerate(self._layers) for _ in range(len(layer))
        ]

    def initiators(self) -> list[Process]:
        return self._layers[0]

    def choose(self, process: Process, layer: list[Process]) -> Process:
        """A random service of a layer, chosen by a process."""
        return layer[self._streams[process.index].below(len(layer))]


class PipelineTraffic(LayeredTraffic):
    """Items pass through stages: each process forwards what it gets to one of the next stage."""

    def act(self, process: Process, step: PacedStep) -> None:
        self._forward(process)

    def delivered(self, process: Process, message: OpenMessage) -> None:
        self._forward(process)

    def _forward(self, process: Process) -> None:
        following = self._layer_of[process.index] + 1
        if following < self.layers:
            self.application.send(process, [self.choose(process, self._layers[following])], None)

    def expected(self) -> int:
        return super().expected() * (self.layers - 1)


class ServiceCall:
    """A request from one service to another, and how many answers it waits for."""

    def __init__(self, caller: Process, callee: Process, parent: ServiceCall | None) -> None:
        self.caller = caller
        self.callee = callee
        self.parent = parent
        self.answered = False
        self.missing = 0  # answers to the calls that its callee made on its behalf


class FanOutTraffic(LayeredTraffic):
    """Requests enter at the first layer; a service calls some of the next layer before it answers.

    A service of the last layer answers at once. One in between answers its caller when all of its own
    calls are answered; calls to a dropped service count as answered.
    """

    def __init__(self, steps: int, interval: Distribution, layers: int, width: int) -> None:
        super().__init__(steps, interval, layers)
        self.width = width
        self._open: list[dict[ServiceCall, bool]] = []  # process -> its unanswered calls

    def prepare(self) -> None:
        super().prepare()
        self._open = [{} for _ in self.application.processes]

    def act(self, process: Process, step: PacedStep) -> None:
        self._call(process, None)

    def delivered(self, process: Process, message: OpenMessage) -> None:
        call = message.tag
        assert isinstance(call, ServiceCall)
        if call.callee is process:
            if self._layer_of[process.index] + 1 < self.layers:
                self._call(process, call)
            else:
                self.application.send(process, [call.caller], call)
        else:
            self._answered(process, call)

    def _call(self, process: Process, parent: ServiceCall | None) -> None:
        """Call several services of the next layer, on behalf of another call if there is a parent."""
        layer = self._layers[self._layer_of[process.index] + 1]
        wanted = min(self.width, len(layer))
        chosen: dict[int, Process] = {}
        while len(chosen) < wanted:
            service = self.choose(process, layer)
            chosen[int(service.index)] = service
        calls = [ServiceCall(process, service, parent) for service in chosen.values()]
        if parent is not None:
            parent.missing = len(calls)
        for call in calls:
            self._open[process.index][call] = True
        for call in calls:
            self.application.send(process, [call.callee], call)

    def _answered(self, process: Process, call: ServiceCall) -> None:
        if call.answered:
            return
        call.answered = True
        del self._open[process.index][call]
        parent = call.parent
        if parent is not None:
            parent.missing -= 1
            if parent.missing == 0:
                self.application.send(process, [parent.caller], parent)

    def dropped(self, process: Process, peer: Process) -> None:
        for call in [call for call in self._open[process.index] if call.callee is peer]:
            self._answered(process, call)

    def skipped(self, process: Process, tag: object) -> None:
        assert isinstance(tag, ServiceCall)
        if tag.caller is process:  # a request; answers to a dropped process are owed to nobody
            self._answered(process, tag)

    def expected(self) -> int:
        requests = 0
        width = 1
        for layer in self._layers[1:]:
            width *= min(self.width, len(layer))
            requests += width
        return super().expected() * 2 * requests


class ClientRequest:
    """A request of a client to a server; the reply carries it too."""

    def __init__(self, server: Process, step: PacedStep) -> None:
        self.server = server
        self.step = step  # the client's, to be resumed after the reply


class RequestReplyTraffic(PacedWorkload):
    """Clients call a random server, wait for the reply, think for an interval, and call again."""

    def __init__(self, steps: int, interval: Distribution, server_share: float) -> None:
        super().__init__(steps, interval)
        self.server_share = server_share
        self._servers: list[Process] = []
        self._waiting_for: list[ClientRequest | None] = []  # client -> its unanswered request

    def prepare(self) -> None:
        processes = self.application.processes
        count = min(max(1, int(self.server_share * len(processes) + 0.5)), len(processes) - 1)
        self._servers = processes[:count]
        self._waiting_for = [None] * len(processes)

    def initiators(self) -> list[Process]:
        return self.application.processes[len(self._servers) :]

    def step(self, process: Process, event: PacedStep) -> None:
        request = ClientRequest(event.choose(self._servers), event)
        self._waiting_for[process.index] = request
        self.application.send(process, [request.server], request)

    def delivered(self, process: Process, message: OpenMessage) -> None:
        request = message.tag
        assert isinstance(request, ClientRequest)
        if request.server is process:
            self.application.send(process, [message.sender], request)
        else:
            self._finish(process, request)

    def _finish(self, client: Process, request: ClientRequest) -> None:
        """A request was answered, or never will be; the second time is ignored."""
        if self._waiting_for[client.index] is request:
            self._waiting_for[client.index] = None
            self.schedule_next(request.step)

    def dropped(self, process: Process, peer: Process) -> None:
        request = self._waiting_for[process.index]
        if request is not None and request.server is peer:
            self._finish(process, request)

    def skipped(self, process: Process, tag: object) -> None:
        assert isinstance(tag, ClientRequest)
        if tag.server is not process:
            self._finish(process, tag)

    def expected(self) -> int:
        return 2 * super().expected()


class ShopTraffic(PacedWorkload):
    """Customers buy: a credit to the bank, then the order to the shop, which debits at the bank.

    The example of Blessing, Clebsch and Drossopoulou (2017): a debit must not arrive before the
    credit that covers it. The last two processes are the shop and the bank.
    """

    def initiators(self) -> list[Process]:
        return self.application.processes[:-2]

    def act(self, process: Process, step: PacedStep) -> None:
        shop, bank = self.application.processes[-2:]
        self.application.send(process, [bank], CREDIT)
        self.application.send(process, [shop], BUY)

    def delivered(self, process: Process, message: OpenMessage) -> None:
        if message.tag is BUY:
            self.application.send(process, [self.application.processes[-1]], DEBIT)

    def expected(self) -> int:
        return 3 * super().expected()


# Tags of messages, compared by identity.
CREDIT: Final[object] = "credit"
BUY: Final[object] = "buy"
DEBIT: Final[object] = "debit"
