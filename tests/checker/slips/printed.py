"""The slips of the printed pseudo-code (hybrid and Cykas), each with the bound at which it shows.

A slip is a small change in the text of a correct core: of our own, or, where that has no place for it,
of one in the printed form (`printed/`). Next to it are the smallest bound at which an exploration
finds it, the kind of problem, and the length of the shortest run: with one send, one process or one
fault less there is nothing to find.
"""

from __future__ import annotations

from beforehand.checker.setting import FaultBudget
from tests.checker.slips.slip import Algorithm, Bound, Slip

_PRINTED = "tests.checker.printed"
ALGORITHM_1 = Algorithm((f"{_PRINTED}.process", f"{_PRINTED}.basic"), "Basic", "hybrid")
ALGORITHM_2 = Algorithm(
    (f"{_PRINTED}.process", f"{_PRINTED}.optimal"), "Optimal", "hybrid-sps", conservative=False
)
ALGORITHM_3 = ALGORITHM_1  # the same with several receivers
ALGORITHM_4 = Algorithm(("beforehand.protocols.sender_side.cykas",), "Cykas", "cykas")

SHARED_FIELD = "the index of a permit and the flag share a field"
TO_ONESELF = "messages to oneself go through the network"

UNCHECKED = ("Process.receive", "            self._check_ack(sender, frame.upto)\n", "")
# There is one receiver only.
FREED_BY_ANYBODY = ("Basic._acknowledged", ".open.discard(sender)", ".open.clear()")

SHRINK = """            self.records.remove()
            while len(self.records) and not self.records.peek().open:
                record = self.records.remove()
                if record.flagged and sender not in record.receivers:
                    self._permit(record, out)
            number = int(self.records.first)
"""
SHRINK_SERVING_THE_FIRST = """            self.records.remove()
            while len(self.records):
                record = self.records.peek()
                if record.flagged and sender not in record.receivers:
                    self._permit(record, out)
                if record.open:
                    break
                self.records.remove()
            number = int(self.records.first)
"""
SHRINK_FLAT = """            self.records.remove()
        while len(self.records) and not self.records.peek().open:
            record = self.records.remove()
            if record.flagged and sender not in record.receivers:
                self._permit(record, out)
        number = int(self.records.first)
"""
LOOP = """        while len(self.records):
            record = self.records.peek()
            if record.flagged:
                self._permit(record, out)
            if record.open:
                return
            self.records.remove()
"""
# The guard is ours: what goes round a thousand times without a change goes round forever.
LOOP_WITHOUT_REMOVE = """        rounds = 0
        while len(self.records):
            record = self.records.peek()
            if record.flagged:
                self._permit(record, out)
            if record.open:
                return
            rounds += 1
            if rounds > 1000:
                raise RuntimeError("an endless loop")
        self.records.remove()
"""
ACKNOWLEDGED = """        for queue in self.eager.values():
            for sent in queue:
                sent.pending.discard(peer)
        for receiver in sorted(self.eager):
            self._send_due_permissions(receiver, out)
        self._release(out)
"""
ACKNOWLEDGED_AS_PRINTED = """        for receiver in sorted(self.eager):
            for sent in self.eager[receiver]:
                sent.pending.discard(peer)
            self._send_due_permissions(receiver, out)
            self._release(out)
"""

SLIPS = [
    # Algorithms 1 to 3
    Slip(
        "ids start at 0, which also means that nothing was delivered yet",
        ALGORITHM_1,
        (("FIRST_ID", "FIRST_ID = 1", "FIRST_ID = 0"),),
        Bound((1, 0)),
        "undelivered",
        3,
        "never delivers a#1",
    ),
    Slip(
        "a duplicate is acknowledged by an unbound name",
        ALGORITHM_1,
        (("Process._message", "HybridAck(frame.first)", "HybridAck(due.first)"),),
        Bound((1, 0), faults=FaultBudget(duplicate=1)),
        "error",
        3,
        "UnboundLocalError",
    ),
    Slip(
        "a permit that overtakes its message is forgotten",
        ALGORITHM_1,
        (("Process._message", " and due.first > self.best_permit.get(sender, 0):", ":"),),
        Bound((2, 0)),
        "stuck",
        7,
        "waits for a permit",
    ),
    Slip(
        "an ack for an id that was never sent is used",
        ALGORITHM_1,
        (UNCHECKED,),
        Bound((1, 0)),
        "error",
        3,
        "outside",
        around="lie: next",
    ),
    Slip(
        "an ack from a process that isn't a receiver is used, and the message was lost",
        ALGORITHM_1,
        (UNCHECKED, FREED_BY_ANYBODY),
        Bound((2, 0, 0), faults=FaultBudget(loss=1)),
        "undelivered",
        7,
        "nobody holds it",
        around="lie: last",
    ),
    Slip(
        "an ack from a process that isn't a receiver is used, and the message is late",
        ALGORITHM_1,
        (UNCHECKED, FREED_BY_ANYBODY),
        Bound((2, 0, 1)),
        "causal",
        8,
        "happened before",
        around="lie: last",
    ),
    Slip(
        TO_ONESELF,
        ALGORITHM_2,
        (("Process.send", "[name for name in receivers if name != self.process]", "receivers"),),
        Bound(program="a>a a>b b>a"),
        "causal",
        6,
        "happened before",
    ),
    # Algorithm 2
    Slip(
        "u2 is not advanced when a message is appended",
        ALGORITHM_2,
        (
            (
                "Optimal._append",
                "            self.u2 += 1\n        if self.m2",
                "            pass\n        if self.m2",
            ),
        ),
        Bound((2, 0)),
        "stuck",
        6,
        "waits for a permit",
    ),
    Slip(
        "m2 is not advanced when a message is appended",
        ALGORITHM_2,
        (
            (
                "Optimal._append",
                "            self.m2 += 1\n        self._rel",
                "            pass\n        self._rel",
            ),
        ),
        Bound((2, 1, 0)),
        "error",
        9,
        "outside",
    ),
    Slip(
        SHARED_FIELD,
        ALGORITHM_2,
        (
            (
                "Optimal._release_from",
                "self._release(record, self.u2 < position or foreign, out)\n",
                "self._release(record, self.u2 < position or foreign, out)\n"
                "                record.need = str(record.flagged)\n",
            ),
        ),
        Bound((2, 2, 0)),
        "error",
        8,
        "TypeError",
    ),
    Slip(
        "two places serve the message at u2 when it becomes the first",
        ALGORITHM_2,
        (("Optimal._acknowledged", SHRINK, SHRINK_SERVING_THE_FIRST),),
        Bound((2, 0, 0)),
        "error",
        4,
        "gets the permit for 2 again",
        around="punctual",
    ),
    Slip(
        "the loop over acknowledged messages does not belong to the ack of the first",
        ALGORITHM_2,
        (("Optimal._acknowledged", SHRINK, SHRINK_FLAT),),
        Bound((3, 0, 0)),
        "stuck",
        10,
        "waits for a permit",
    ),
    Slip(
        "an ack that asks for a lost permit is ignored while an older ack is missing",
        ALGORITHM_2,
        (("Optimal._acknowledged", "if record.permitted:", "if False:"),),
        Bound((3, 0, 0), faults=FaultBudget(duplicate=1)),
        "error",
        9,
        "in vain",
        around="punctual",
    ),
    # Algorithm 3
    Slip(
        "one predecessor id for all receivers",
        ALGORITHM_3,
        (
            (
                "Process._record",
                "{name: self.last_sent.get(name, 0) for name in receivers}",
                "dict.fromkeys(receivers, max(self.last_sent.get(name, 0) for name in receivers))",
            ),
        ),
        Bound((2, 0, 0), multicast=True),
        "undelivered",
        8,
        "holds a#2 until message",
    ),
    Slip(
        "acknowledged messages are removed after the loop over them",
        ALGORITHM_3,
        (("Basic._shrink", LOOP, LOOP_WITHOUT_REMOVE),),
        Bound((1, 0)),
        "error",
        3,
        "an endless loop",
    ),
    Slip(
        "a message to nobody",
        ALGORITHM_3,
        (
            ("Process.send", "        if not receivers:\n", "        if False:\n"),
            ("Process.send", "        if others:\n", "        if others or not receivers:\n"),
        ),
        Bound(program="a> a>b"),
        "stuck",
        4,
        "waits for a permit",
    ),
    Slip(
        "the permit of a message waits for the ack of its only receiver",
        ALGORITHM_3,
        (("Basic._permit", "record.open <= {name}", "not record.open"),),
        Bound((2, 0)),
        "error",
        4,
        "is due, and not sent",
        around="punctual",
    ),
    # Cykas, Algorithm 4. The second is out of reach of three messages for each process.
    Slip(
        "cykas: messages are released in the loop over eager sends only",
        ALGORITHM_4,
        (("Cykas._acknowledged", ACKNOWLEDGED, ACKNOWLEDGED_AS_PRINTED),),
        Bound((2, 0)),
        "undelivered",
        4,
        "a holds a#2",
    ),
    Slip(
        "cykas: messages are released in the loop over eager sends, and after it",
        ALGORITHM_4,
        (
            (
                "Cykas._acknowledged",
                ACKNOWLEDGED,
                ACKNOWLEDGED_AS_PRINTED + "        self._release(out)\n",
            ),
        ),
        Bound((5, 0, 1)),
        "causal",
        18,
        "then sent c#1 to b",
    ),
]
