"""What no correct peer could send: the checks of the frames of hybrid buffering.

They compare a frame with the record of its sender, which is None as long as nothing is known of it.
"""

from typing import Final

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.hybrid.frames import HybridMessage
from beforehand.protocols.hybrid.records import PeerRecord

MAX_ID: Final = 2**60 - 1  # what the wire can carry


def check_message(sender: str, frame: HybridMessage, peer: PeerRecord | None) -> None:
    """A message follows its predecessor, and no delivered message lies between the two."""
    count = len(frame.payloads)
    in_range = 0 <= frame.prev < frame.first <= MAX_ID + 1 - count
    if not count or not in_range:
        raise RemoteProtocolError(
            sender, f"message {frame.first} after {frame.prev}, {count} payloads"
        )
    if peer is not None and frame.prev < peer.last_delivered < frame.first:
        raise RemoteProtocolError(
            sender,
            f"message {frame.first} claims predecessor {frame.prev}, "
            f"but {peer.last_delivered} came from there too",
        )


def check_ack(sender: str, upto: i64, peer: PeerRecord | None) -> None:
    """An ack names a message that was released to the sender of the ack."""
    if peer is None or upto > peer.last_sent or upto < 1:
        raise RemoteProtocolError(sender, f"acknowledges message {upto}, which it was never sent")
    if upto <= peer.acked:
        return
    position = peer.open.first
    while peer.open[position].run.last < upto:
        position += 1
    copy = peer.open[position]
    if upto < copy.run.first or not copy.released:
        raise RemoteProtocolError(sender, f"acknowledges message {upto}, which it was never sent")


def check_permit(sender: str, upto: i64) -> None:
    """A permit may come before its message, so any id will do."""
    if upto < 1 or upto > MAX_ID:
        raise RemoteProtocolError(sender, f"a permit for message {upto}")
