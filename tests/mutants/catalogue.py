"""The mutants of the hybrids: each breaks one condition, and each must be noticed.

A mutant is a replacement of one piece of text, which must occur exactly once in its file. They are
grouped by what the condition is there for.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One deliberate mistake."""

    name: str
    file: str  # below src/beforehand/protocols
    old: str
    new: str
    also: tuple[tuple[str, str, str], ...] = ()  # (file, old, new): where one change is not enough

    def changes(self) -> list[tuple[str, str, str]]:
        """All that it changes."""
        return [(self.file, self.old, self.new), *self.also]


BASE, RECORDS, CSPS, SPS = "hybrid/core.py", "hybrid/records.py", "hybrid/csps.py", "hybrid/sps.py"
CORE, FENCE = "core.py", "fence.py"

GUARDS = [
    "tests/papers/test_hybrid.py",
    "tests/protocols/hybrid/test_recovery.py",
    "tests/protocols/hybrid/test_bad_input.py",
    "tests/protocols/test_drop.py",
    "tests/property/test_runs.py",
    "tests/property/test_hybrid_brute_force.py",
    "tests/property/test_stateful.py",
]
SELECT = "ybrid"  # of what is in these files, the tests with this in their names

MUTANTS = [
    # what may be released
    Mutant("a message depends on no permit", BASE, "Run(first, self.missing.next,", "Run(first, 0,"),
    Mutant(
        "a message depends on all permits but the last",
        BASE,
        "Run(first, self.missing.next,",
        "Run(first, self.missing.next - 1,",
    ),
    Mutant("csps: release one permit early", CSPS, "run.need > self.missing.first", "run.need > self.missing.first + 1"),
    Mutant("csps: release one permit late", CSPS, "run.need > self.missing.first", "run.need >= self.missing.first"),
    Mutant("sps: release one permit early", SPS, "run.need > self.permits.first", "run.need > self.permits.first + 1"),
    Mutant("sps: release to anybody", SPS, "if not copy.released and copy.peer is oldest:", "if not copy.released:"),
    Mutant("sps: release to nobody", SPS, "if not copy.released and copy.peer is oldest:", "if copy.released:"),
    Mutant("sps: the second permit counts as the first sender's", SPS, "run.need > self.second_permit", "run.need > self.second_permit + 1"),
    Mutant("sps: the second permit is never the first missing one", SPS, "if sender is not None and sender is not oldest:", "if sender is not oldest:"),
    Mutant("sps: the second permit is not found", SPS, "if sender is not None and sender is not oldest:", "if sender is not None and sender is oldest:"),
    Mutant("sps: the second run is not looked at again", SPS, "self.second_run < self.runs.next", "self.second_run + 1 < self.runs.next"),
    Mutant("a permit releases nothing", BASE, "        if found:\n            self._release_due(out)", "        if found:\n            pass"),
    # what is flagged
    Mutant("nothing is flagged", BASE, "copy.flagged = self._needs_permit(run)", "copy.flagged = False"),
    Mutant("everything is flagged", BASE, "copy.flagged = self._needs_permit(run)", "copy.flagged = True"),
    Mutant("what joins a run is not flagged", BASE, "HybridMessage(first, first - 1, copy.flagged,", "HybridMessage(first, first - 1, False,"),
    Mutant("a repeated frame loses its flag", BASE, "copy.frame(self._needs_permit(copy.run))", "copy.frame(False)"),
    # how far permits reach
    Mutant("the first foreign run goes unflagged", BASE, "return run.first >= self.runs[self.foreign_run].first", "return run.first > self.runs[self.foreign_run].first"),
    Mutant("what is last is flagged", BASE, "        if self.foreign_run == self.runs.next:\n            return False", "        if self.foreign_run == self.runs.next:\n            return True"),
    Mutant("permits reach foreign runs", BASE, "            if not run.only_waits_for(sole.peer):\n                return", "            if False:\n                return"),
    Mutant("csps: permits reach other runs", CSPS, "return run.continues", "return True"),
    Mutant("csps: permits stop inside a run", CSPS, "return run.continues", "return False"),
    Mutant("sps: permits stop at the oldest run", SPS, "    def _reaches(self, run: Run) -> bool:\n        return True", "    def _reaches(self, run: Run) -> bool:\n        return False"),
    Mutant("the oldest run itself must continue", BASE, "if self.foreign_run > runs.first and not self._reaches(run):", "if not self._reaches(run):"),
    Mutant("a run with one open copy waits for nobody", RECORDS, "return self.open == 0 or (self.sole is not None and self.sole.peer is peer)", "return self.open <= 1"),
    Mutant("a closed run is waited for", RECORDS, "return self.open == 0 or (self.sole is not None and self.sole.peer is peer)", "return self.sole is not None and self.sole.peer is peer"),
    Mutant("the last open copy is not found", RECORDS, "        if run.open == 1:", "        if run.open == 99:"),
    # permits given
    Mutant("passed copies get no permit", BASE, "            if run.sole is not None and run.sole.flagged:", "            if False and run.sole is not None:"),
    Mutant("closed copies get no permit", BASE, "                if copy.flagged:\n                    self._grant(copy)", "                if False:\n                    self._grant(copy)"),
    Mutant("a run is given up with one ack missing", BASE, "self.runs.peek().open == 0", "self.runs.peek().open <= 1"),
    Mutant("a permit is given twice", BASE, "        copy.flagged = False\n", ""),
    Mutant("a permit covers too little", BASE, "copy.peer.permitted = copy.run.last", "copy.peer.permitted = copy.run.first - 1"),
    Mutant("a repeated ack is no request", BASE, "if upto == peer.acked and peer.permitted > 0:", "if False:"),
    # acks
    Mutant("an ack closes runs that it does not cover", BASE, "            if copy.run.last > upto:", "            if copy.run.first > upto:"),
    Mutant("an ack closes only runs that it exceeds", BASE, "            if copy.run.last > upto:", "            if copy.run.last >= upto:"),
    Mutant("a part of a run stays after its ack", BASE, "                    copy.acked_within(upto)", "                    pass"),
    Mutant("acks never seen are believed", BASE, "if peer is None or upto > peer.last_sent or upto < 1:", "if peer is None or upto < 1:"),
    Mutant("an ack for somebody else's message is believed", BASE, "if upto < copy.run.first or not copy.released:", "if not copy.released:"),
    Mutant("an ack for an unsent message is believed", BASE, "if upto < copy.run.first or not copy.released:", "if upto < copy.run.first:"),
    Mutant("nothing is acknowledged", BASE, "        self._ack(peer)  # also", "        pass  # also"),
    # FIFO and duplicates at the receiver
    Mutant("early frames are delivered", BASE, "        if frame.prev > peer.last_delivered:", "        if False:"),
    Mutant("a shorter early frame replaces a longer one", BASE, "if known is None or len(known.frame.payloads) < len(frame.payloads):", "if True:"),
    Mutant("a longer early frame is forgotten", BASE, "if known is None or len(known.frame.payloads) < len(frame.payloads):", "if known is None:"),
    Mutant("duplicates are delivered", BASE, "number = max(frame.first, peer.last_delivered + 1)", "number = frame.first"),
    Mutant("a duplicate moves the clock back", BASE, "if frame.first + len(frame.payloads) > peer.last_delivered + 1:", "if True:"),
    Mutant("early frames are not looked for", BASE, "                if peer.early:", "                if False:"),
    Mutant("early frames inside a run stay behind", BASE, "        prev = first if prev < first else prev + 1", "        prev = peer.last_delivered if prev < peer.last_delivered else prev + 1"),
    Mutant("early frames with a gap are believed", BASE, "if last > reach and (prev == peer.last_delivered or frame.first == prev + 1):", "if last > reach:"),
    Mutant("a contradicting predecessor is believed", BASE, "if peer is not None and frame.prev < peer.last_delivered < frame.first:", "if False:"),
    Mutant("all receivers share a predecessor", RECORDS, "copy = Copy(self, peer, peer.last_sent)", "copy = Copy(self, peer, self.first - 1)"),
    # permits awaited
    Mutant("no permit is awaited", BASE, "if frame.flagged and last > peer.best_permit:", "if False:"),
    Mutant("permits of plain messages are awaited", BASE, "if frame.flagged and last > peer.best_permit:", "if last > peer.best_permit:"),
    Mutant("a permit that overtook is forgotten", BASE, "if frame.flagged and last > peer.best_permit:", "if frame.flagged:"),
    Mutant("missing permits merge under a dependant", BASE, "newest.position == self.missing.next - 1 and self.depended < self.missing.next", "newest.position == self.missing.next - 1"),
    Mutant("missing permits merge across senders", BASE, "newest.position == self.missing.next - 1 and self.depended < self.missing.next", "self.depended < self.missing.next"),
    Mutant("sends leave no mark on the permits", BASE, "        self.depended = self.missing.next\n", ""),
    Mutant("a permit covers one message more", BASE, "peer.missing.peek().message_id <= upto", "peer.missing.peek().message_id <= upto + 1"),
    Mutant("a permit covers one message less", BASE, "peer.missing.peek().message_id <= upto", "peer.missing.peek().message_id < upto"),
    Mutant("a permit clears everything of its sender", BASE, "while len(peer.missing) and peer.missing.peek().message_id <= upto:", "while len(peer.missing):"),
    # runs
    Mutant("runs join across a secret", BASE, "or self.depended != self.missing.next:", "or False:"),
    Mutant("runs join across other messages", BASE, "if run.last != self.sent or len(run.copies) != len(peers):", "if len(run.copies) != len(peers):"),
    Mutant("runs join across group sizes", BASE, "if run.last != self.sent or len(run.copies) != len(peers):", "if run.last != self.sent or len(run.copies) < len(peers):"),
    Mutant("runs join across receivers", BASE, "            if copy.peer is not peers[number]:", "            if False:"),
    Mutant("a closed run grows", BASE, "return run.open > 0 and len(run.payloads)", "return len(run.payloads)"),
    Mutant("a partly released group run grows", BASE, "waiting = run.unsent == len(run.copies)", "waiting = run.unsent > 0"),
    Mutant("no run continues another", BASE, "run.continues = last is not None", "run.continues = False"),
    Mutant("every run continues another", BASE, "run.continues = last is not None", "run.continues = True"),
    # what may be lost
    Mutant("unacknowledged messages are not sent again", BASE, "                if not copy.released:\n                    break", "                if True:\n                    break"),
    Mutant("unreleased messages leave on a tick", BASE, "                if not copy.released:\n                    break", "                if False:\n                    break"),
    Mutant("missing permits are not asked for", BASE, "            if len(peer.missing):\n                self._transmit", "            if False:\n                self._transmit"),
    # peers that are gone
    Mutant("a drop closes nothing", BASE, "        for copy in gone.open.elements():\n            copy.close()", "        pass"),
    Mutant("a drop keeps the missing permits", BASE, "            self.missing.remove(permit)\n", "            pass\n"),
    Mutant("a drop grants nothing", BASE, "            self.missing.remove(permit)\n        self._shrink()", "            self.missing.remove(permit)"),
    Mutant("a drop releases nothing", BASE, "        self._shrink()\n        self._release_due(out)", "        self._shrink()"),
    Mutant("a dropped peer gets permits", BASE, "            run.copies = [copy for copy in run.copies if copy.peer is not gone]", "            pass"),
    Mutant("a dropped peer is heard", CORE, "if self.fence is not None and sender in self.fence.known:\n            return", "if False:\n            return"),
    Mutant("drops do not travel", CORE, "            frame = self.fence.wrap(to, frame)", "            pass"),
    Mutant("drops that travel are not applied", CORE, "            self._apply_drop(name, now, out)\n        self._receive", "            pass\n        self._receive"),
    Mutant("drops are taken for confirmed", FENCE, "start = self.confirmed.get(to, 0)", "start = len(self.log)"),
    Mutant("one may send to a dropped peer", CORE, "                if name in self.fence.known:\n", "                if False:\n"),
    Mutant("a bad frame in a fence is used", CORE, "        self._check(sender, frame.frame)\n", ""),
]  # fmt: skip
