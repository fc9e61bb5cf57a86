"""What each real process of a cluster did; a list of objects in the cluster's note."""

from typing import Final

from beforehand.results.schema import Schema, boolean, integer, real, text

PROCESSES: Final = Schema(
    text("name", "Its name among its peers.", "process"),
    integer("life", "1, or 2 for a process that was restarted."),
    boolean("killed", "On purpose, in the middle of the run."),
    integer("sent", "Messages."),
    integer("delivered", "Messages."),
    integer("reactions", "Messages that it sent because of one that it delivered."),
    integer("held", "Messages that waited in the core at the end."),
    integer("most_held", "Messages that waited in the core at a time.", "held at most"),
    integer("lost", "Datagrams that the fault injector dropped."),
    integer("doubled", "Datagrams that it duplicated."),
    integer("held_back", "Datagrams that it delayed, so that others overtook them."),
    integer("bytes_out", "Bytes of all its datagrams.", "bytes sent", unit="bytes"),
    integer("resent", "Frames that were retransmitted."),
    real("round_trip_ms", "Estimated milliseconds to a peer and back.", "round trip, ms"),
    integer("damaged", "Messages whose content changed on the way."),
    integer("misbehaved", "Malformed or impossible frames from peers."),
)
