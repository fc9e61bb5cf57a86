"""`rst`: matrix clocks, the protocol of Raynal, Schiper and Toueg (1991; section 2 of Mattern and
Fünfrocken).

A process remembers in a matrix S how many messages each process is known to have sent to each
other one: row k is what it knows of k's sends. Each message carries the matrix as it was before
the send. Its receiver delivers it when it has delivered, from every k, as many messages as k
had sent to it according to the matrix; then it merges the matrix, and counts the message itself.

Releases at once, needs no order of the network and no acknowledgements, and delivers as early as
any protocol can. The price is n * n integers in each message.

A row of the matrix is a tuple, and so is the matrix: attaching it to a message costs nothing, and
messages and processes share the rows that have not changed.

Invariants:

- every version of row k, wherever it is, is the true row of k after one of its sends: a message
  brings the row before its send and the receivers, hence the row after it. Versions of one row
  therefore never disagree, they are older or newer, and Python's comparison of tuples, which stops
  at the first difference, finds the newer one: the element-wise maximum of the two;
- in its own column, S counts only what has been delivered: `S[k][me] <= progress[k]`. So a row
  that a message and its receiver share demands nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from beforehand.errors import RemoteProtocolError
from beforehand.protocols.clocks.core import HoldBackCore
from beforehand.protocols.clocks.holdback import HeldBack, Need
from beforehand.protocols.clocks.membership import Processes
from beforehand.protocols.effects import Effect, Wait
from beforehand.protocols.frames import Frame
from beforehand.protocols.support.numbering import NumberedFrame, foreign

Row = tuple[int, ...]
Matrix = tuple[Row, ...]


class RstMessage(NumberedFrame):
    """A message, everybody to whom it goes, and the sender's matrix before this send."""

    __slots__ = ("matrix", "receivers")
    receivers: Final[tuple[str, ...]]
    matrix: Final[Matrix]

    def __init__(
        self, number: i64, receivers: tuple[str, ...], matrix: Matrix, payload: bytes
    ) -> None:
        super().__init__(number, payload)
        self.receivers = receivers
        self.matrix = matrix

    def key(self) -> tuple[object, ...]:
        return (int(self.number), self.receivers, self.matrix, self.payload)


class Rst(HoldBackCore):
    """One process of the matrix protocol."""

    me: Final[int]  # the position of this process: its row and its column
    matrix: Matrix

    def __init__(self, process: str, processes: Processes) -> None:
        super().__init__(process, processes)
        self.me = self.members.index[process]
        self.matrix = self.members.zeros

    # ---- sending ----

    def _send_run(
        self, receivers: Sequence[str], payloads: list[bytes], now: i64, out: list[Effect]
    ) -> None:
        to = tuple(receivers)
        for payload in payloads:
            self.sent += 1
            frame = RstMessage(self.sent, to, self.matrix, payload)
            self._put_row(self.me, self._after_send(self.matrix[self.me], to))
            for receiver in to:
                self._transmit(out, receiver, frame)

    def _after_send(self, row: Row, receivers: tuple[str, ...]) -> Row:
        """A process's row once it has sent one more message to these."""
        counts = list(row)
        for name in receivers:
            counts[self.members.index[name]] += 1
        return tuple(counts)

    def _put_row(self, position: int, row: Row) -> None:
        rows = list(self.matrix)
        rows[position] = row
        self.matrix = tuple(rows)

    # ---- receiving ----

    def _check(self, sender: str, frame: Frame) -> None:
        if not isinstance(frame, RstMessage):
            raise foreign(sender, frame, "rst")
        index = self.members.index
        if sender not in index:
            raise RemoteProtocolError(sender, "is not among the processes")
        for name in frame.receivers:
            if name not in index or name == sender:
                raise RemoteProtocolError(sender, f"sends to {name!r}, which cannot be")
        if self.process not in frame.receivers:
            raise RemoteProtocolError(sender, f"sends to {frame.receivers}, not to {self.process}")
        if len(set(frame.receivers)) < len(frame.receivers):
            raise RemoteProtocolError(sender, f"names a receiver twice: {frame.receivers}")
        self._check_matrix(sender, frame.matrix)
        before = frame.matrix[index[sender]][self.me]
        if frame.number <= before:
            raise RemoteProtocolError(
                sender, f"message {frame.number} cannot follow {before} messages to {self.process}"
            )
        order = before + 1
        if order <= self.queue.progress.get(sender, 0) or (sender, order) in self.queue.messages:
            raise RemoteProtocolError(sender, f"message {frame.number} came a second time")

    def _check_matrix(self, sender: str, matrix: Matrix) -> None:
        size = len(self.members)
        if len(matrix) != size:
            raise RemoteProtocolError(sender, f"a matrix of {len(matrix)} rows, not {size}")
        mine = self.matrix
        for position in range(size):
            row = matrix[position]
            if row is mine[position]:
                continue
            if len(row) != size:
                raise RemoteProtocolError(sender, f"a matrix row of {len(row)}, not {size}")
            if min(row) < 0:
                raise RemoteProtocolError(sender, "a matrix with a negative count")
        own = mine[self.me]
        claimed = matrix[self.me]
        for position in range(size):
            if claimed[position] > own[position]:
                raise RemoteProtocolError(
                    sender,
                    f"knows of {claimed[position]} messages from {self.process} to "
                    f"{self.members.names[position]}, of which there are {own[position]}",
                )

    def _receive(self, sender: str, frame: Frame, now: i64, out: list[Effect]) -> None:
        assert isinstance(frame, RstMessage)
        order = frame.matrix[self.members.index[sender]][self.me] + 1
        message = HeldBack(sender, order, frame, self._needs(frame.matrix), now)
        if self.queue.admit(message):
            self._deliver([message], out)

    def _needs(self, matrix: Matrix) -> list[Need]:
        """From whom more must be delivered first, and up to how many messages."""
        needs: list[Need] = []
        mine = self.matrix
        me = self.me
        for position in range(len(matrix)):
            row = matrix[position]
            if row is not mine[position] and row[me] > 0:
                name = self.members.names[position]
                if row[me] > self.queue.progress.get(name, 0):
                    needs.append((name, row[me]))
        return needs

    def _learn(self, message: HeldBack) -> None:
        """Know what the message knew, and of the message itself: to all its receivers."""
        frame = message.frame
        assert isinstance(frame, RstMessage)
        rows = list(self.matrix)
        theirs = frame.matrix
        for position in range(len(rows)):
            row = theirs[position]
            if row is not rows[position] and row > rows[position]:
                rows[position] = row
        position = self.members.index[message.sender]
        # Nothing newer can be known of the sender: that would be after this message.
        rows[position] = self._after_send(theirs[position], frame.receivers)
        self.matrix = tuple(rows)

    # ---- inspection ----

    def _waits(self, message: HeldBack) -> list[Wait]:
        """Matrices count messages and do not name them: 0 stands for a number that is not known."""
        waits: list[Wait] = []
        for peer, _ in self.queue.unmet(message.needs):
            following = self.queue.messages.get((peer, self.queue.progress.get(peer, 0) + 1))
            number = 0 if following is None else int(following.frame.number)
            waits.append(Wait("message", peer, number))
        return waits

    def integers(self) -> int:
        size = len(self.members)
        fence = 0 if self.fence is None else self.fence.integers()
        return 1 + size * size + size + size * size * len(self.queue.messages) + fence

    def copy(self) -> Rst:
        twin = Rst(self.process, self.members)
        self._copy_base(twin)
        twin.matrix = self.matrix
        return twin

    def _state(self) -> tuple[object, ...]:
        return (self.members.names, self.matrix, self.queue.fingerprint())
