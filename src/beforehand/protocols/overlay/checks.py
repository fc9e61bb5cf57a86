"""What no correct peer could send: the checks of overlay frames that need no state but a name."""

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.frames import Frame
from beforehand.protocols.overlay.frames import (
    Alpha,
    Buffered,
    Close,
    Control,
    LinkSignal,
    Route,
    Routed,
    Welcome,
)


def check_control(sender: str, control: Control, handled: bool) -> None:
    """`handled`: control messages of this kind belong to the protocol."""
    if control.e < 1 or not handled:
        raise RemoteProtocolError(sender, f"sends the impossible {control}")
    if control.opener == control.acceptor:
        raise RemoteProtocolError(sender, f"{control} is about a link to oneself")


def check_routed(process: str, sender: str, frame: Routed) -> None:
    """Routed control must lead to whom it is for."""
    check_route(process, sender, frame.path)
    end = frame.path[-1] if frame.path else process
    if frame.control.target() != end:
        raise RemoteProtocolError(sender, f"routes {frame.control} to {end}")


def check_route(process: str, sender: str, path: Route) -> None:
    """A route passes every process once, and not the present one."""
    if process in path or len(set(path)) < len(path):
        raise RemoteProtocolError(sender, f"sends a route with a loop: {path}")


def check_signal(sender: str, frame: LinkSignal) -> None:
    """Only a link that exists from the start has incarnation 0, and it can only be closed."""
    if frame.e < (0 if isinstance(frame, Close) else 1):
        raise RemoteProtocolError(sender, f"signals about link {frame.e}")


def check_link_frame(process: str, sender: str, frame: Frame) -> None:
    """The frames by which the two ends of a link speak to each other."""
    if isinstance(frame, LinkSignal):
        check_signal(sender, frame)
    elif isinstance(frame, Welcome):
        check_welcome(sender, frame)
    elif isinstance(frame, Alpha):
        check_alpha(process, sender, frame)
    elif isinstance(frame, Buffered):
        check_buffered(sender, frame)


def check_welcome(sender: str, frame: Welcome) -> None:
    """Incarnations and message numbers start at 1."""
    if frame.e < 1:
        raise RemoteProtocolError(sender, f"opens link {frame.e}; incarnations start at 1")
    for _, number in frame.versions:
        if number == 0:
            raise RemoteProtocolError(sender, "claims a delivery of message 0")


def check_alpha(process: str, sender: str, frame: Alpha) -> None:
    """The route back leads to the opener."""
    check_route(process, sender, frame.back)
    if frame.e < 1 or (frame.back and frame.back[-1] != sender):
        raise RemoteProtocolError(sender, f"{frame} doesn't lead back to it")


def check_buffered(sender: str, frame: Buffered) -> None:
    """B-beta names each message once; the messages themselves are checked by the protocol."""
    if frame.e < 1:
        raise RemoteProtocolError(sender, f"signals about link {frame.e}")
    if len({relayed.id for relayed in frame.frames}) < len(frame.frames):
        raise RemoteProtocolError(sender, "has delivered a message twice")
