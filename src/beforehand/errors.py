"""One hierarchy of errors: who is at fault decides the class.

`LocalProtocolError` is misuse by the caller, and says what to do instead. `RemoteProtocolError` is
something that no correct peer could have sent; it names the peer, and nothing was changed by it.
"""


class BeforehandError(Exception):
    """The root of everything that this package raises on purpose."""


class LocalProtocolError(BeforehandError):
    """The caller asked for something that makes no sense here."""


class UnknownProtocolError(LocalProtocolError):
    """There is no protocol of that name."""


class PeerDroppedError(LocalProtocolError):
    """The named peer was dropped: it is gone for ever and must come back under a new name."""


class WouldBlock(LocalProtocolError):
    """There is no room for the message now; `send` would wait."""


class NodeClosedError(LocalProtocolError):
    """The node is closed, or was never started."""


class RemoteProtocolError(BeforehandError):
    """A peer sent what no correct peer could send; the state is as it was before."""

    def __init__(self, peer: str, problem: str) -> None:
        self.peer = peer
        self.problem = problem
        super().__init__(f"{peer}: {problem}" if peer else problem)

    def __reduce__(self) -> tuple[type["RemoteProtocolError"], tuple[str, str]]:
        return (type(self), (self.peer, self.problem))


class ScenarioError(BeforehandError):
    """A simulation was asked for that cannot be run; the text says what is possible instead."""


class CheckError(BeforehandError):
    """A check was asked for that cannot be run; the text says what is possible instead."""


class TraceError(BeforehandError):
    """A trace cannot be read or written; the error names the file, the place in it and the remedy."""


class PipelineError(BeforehandError):
    """The data pipeline cannot do what was asked; the text says what is missing and the remedy."""


class ReportError(BeforehandError):
    """A report or a diagram cannot be made; the text says what was looked for, where, and the remedy."""


class ResourceError(BeforehandError):
    """Not the input but the machine: a missing package or Java, a full disk, a lost worker."""


class SecurityError(BeforehandError):
    """A key cannot be used, or a handshake was refused; the text says what to do about it."""


class TransportError(BeforehandError):
    """A transport cannot be opened, or an address not understood; the text says what to do."""
