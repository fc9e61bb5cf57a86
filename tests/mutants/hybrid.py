"""The mutants of `hybrid` and `hybrid-sps`: each breaks one condition, and each must be noticed.

They are grouped by the purpose of the condition.
"""

from __future__ import annotations

from tests.mutants.mutant import Mutant

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
    Mutant("a message depends on no permit", "HybridCore._send_to", "MessageRun(first, self.missing.next,", "MessageRun(first, 0,"),
    Mutant(
        "a message depends on all permits but the last",
        "HybridCore._send_to",
        "MessageRun(first, self.missing.next,",
        "MessageRun(first, self.missing.next - 1,",
    ),
    Mutant("csps: release one permit early", "Hybrid._release_due", "run.need > self.missing.first", "run.need > self.missing.first + 1"),
    Mutant("csps: release one permit late", "Hybrid._release_due", "run.need > self.missing.first", "run.need >= self.missing.first"),
    Mutant("sps: release one permit early", "HybridSps._release_due", "run.need > self.missing.first", "run.need > self.missing.first + 1"),
    Mutant("sps: release to anybody", "HybridSps._release_to_oldest_sender", "if not copy.released and copy.peer is oldest:", "if not copy.released:"),
    Mutant("sps: release to nobody", "HybridSps._release_to_oldest_sender", "if not copy.released and copy.peer is oldest:", "if copy.released:"),
    Mutant("sps: the second permit counts as the first sender's", "HybridSps._release_to_oldest_sender", "run.need > self.second_permit", "run.need > self.second_permit + 1"),
    Mutant("sps: the second permit is never the first missing one", "HybridSps._release_to_oldest_sender", "if sender is not None and sender is not oldest:", "if sender is not oldest:"),
    Mutant("sps: the second permit is not found", "HybridSps._release_to_oldest_sender", "if sender is not None and sender is not oldest:", "if sender is not None and sender is oldest:"),
    Mutant("sps: the second run is not looked at again", "HybridSps._release_to_oldest_sender", "self.second_run < self.runs.next", "self.second_run + 1 < self.runs.next"),
    Mutant("a permit releases nothing", "HybridCore._receive_permit", "        if freed:\n            self._release_due(out)", "        if freed:\n            pass"),
    # what is flagged
    Mutant("nothing is flagged", "HybridCore._release", "copy.flagged = self._needs_permit(run)", "copy.flagged = False"),
    Mutant("everything is flagged", "HybridCore._release", "copy.flagged = self._needs_permit(run)", "copy.flagged = True"),
    Mutant("a message that joins a run is not flagged", "HybridCore._send_to", "HybridMessage(first, first - 1, copy.flagged,", "HybridMessage(first, first - 1, False,"),
    Mutant("a repeated frame loses its flag", "HybridCore._tick", "copy.frame(self._needs_permit(copy.run))", "copy.frame(False)"),
    # how far permits reach
    Mutant("the first foreign run goes unflagged", "HybridCore._needs_permit", "return run.first >= self.runs[self.foreign_run].first", "return run.first > self.runs[self.foreign_run].first"),
    Mutant("the last run is flagged", "HybridCore._needs_permit", "        if self.foreign_run == self.runs.next:\n            return False", "        if self.foreign_run == self.runs.next:\n            return True"),
    Mutant("permits reach foreign runs", "HybridCore._reach_further", "            if not run.only_waits_for(sole.peer):\n                return", "            if False:\n                return"),
    Mutant("csps: permits reach other runs", "Hybrid._reaches", "return run.continues", "return True"),
    Mutant("csps: permits stop inside a run", "Hybrid._reaches", "return run.continues", "return False"),
    Mutant("sps: permits stop at the oldest run", "HybridSps._reaches", "    def _reaches(self, run: MessageRun) -> bool:\n        return True", "    def _reaches(self, run: MessageRun) -> bool:\n        return False"),
    Mutant("the oldest run itself must continue", "HybridCore._reach_further", "if self.foreign_run > runs.first and not self._reaches(run):", "if not self._reaches(run):"),
    Mutant("a run with one open copy waits for nobody", "MessageRun.only_waits_for", "return self.open == 0 or (self.sole is not None and self.sole.peer is peer)", "return self.open <= 1"),
    Mutant("a closed run is waited for", "MessageRun.only_waits_for", "return self.open == 0 or (self.sole is not None and self.sole.peer is peer)", "return self.sole is not None and self.sole.peer is peer"),
    Mutant("the last open copy is not found", "RunCopy.close", "        if run.open == 1:", "        if run.open == 99:"),
    # permits given
    Mutant("passed copies get no permit", "HybridCore._reach_further", "            if run.sole is not None and run.sole.flagged:", "            if False and run.sole is not None:"),
    Mutant("closed copies get no permit", "HybridCore._shrink", "                if copy.flagged:\n                    self._grant(copy)", "                if False:\n                    self._grant(copy)"),
    Mutant("a run is given up with one ack missing", "HybridCore._shrink", "self.runs.peek().open == 0", "self.runs.peek().open <= 1"),
    Mutant("a permit is given twice", "HybridCore._grant", "        copy.flagged = False\n", ""),
    Mutant("a permit covers too little", "HybridCore._grant", "copy.peer.permitted = copy.run.last", "copy.peer.permitted = copy.run.first - 1"),
    Mutant("a repeated ack does not request the permit", "HybridCore._receive_ack", "if upto == peer.acked and peer.permitted > 0:", "if False:"),
    # acks
    Mutant("an ack closes runs that it does not cover", "HybridCore._receive_ack", "            if copy.run.last > upto:", "            if copy.run.first > upto:"),
    Mutant("an ack closes only runs that it exceeds", "HybridCore._receive_ack", "            if copy.run.last > upto:", "            if copy.run.last >= upto:"),
    Mutant("a part of a run stays after its ack", "HybridCore._receive_ack", "                    copy.acked_within(upto)", "                    pass"),
    Mutant("acks for messages never sent are accepted", "check_ack", "if peer is None or upto > peer.last_sent or upto < 1:", "if peer is None or upto < 1:"),
    Mutant("an ack for another receiver's message is accepted", "check_ack", "if upto < copy.run.first or not copy.released:", "if not copy.released:"),
    Mutant("an ack for an unreleased message is accepted", "check_ack", "if upto < copy.run.first or not copy.released:", "if upto < copy.run.first:"),
    Mutant("nothing is acknowledged", "HybridCore._receive_message", "        self._ack(peer)  # also", "        pass  # also"),
    # FIFO and duplicates at the receiver
    Mutant("early frames are delivered", "HybridCore._receive_message", "        if frame.prev > peer.last_delivered:", "        if False:"),
    Mutant("a shorter early frame replaces a longer one", "HybridCore._receive_message", "if known is None or len(known.frame.payloads) < len(frame.payloads):", "if True:"),
    Mutant("a longer early frame is forgotten", "HybridCore._receive_message", "if known is None or len(known.frame.payloads) < len(frame.payloads):", "if known is None:"),
    Mutant("duplicates are delivered", "HybridCore._deliver", "number = max(frame.first, peer.last_delivered + 1)", "number = frame.first"),
    Mutant("a duplicate moves the clock back", "HybridCore._receive_message", "if frame.first + len(frame.payloads) > peer.last_delivered + 1:", "if True:"),
    Mutant("early frames are never retrieved", "HybridCore._receive_message", "                if peer.early:", "                if False:"),
    Mutant("early frames inside a run stay behind", "PeerRecord.take_follower", "        prev = first if prev < first else prev + 1", "        prev = self.last_delivered if prev < self.last_delivered else prev + 1"),
    Mutant("early frames with a gap are accepted", "PeerRecord.take_follower", "if last > reach and (prev == self.last_delivered or frame.first == prev + 1):", "if last > reach:"),
    Mutant("a contradicting predecessor is accepted", "check_message", "if peer is not None and frame.prev < peer.last_delivered < frame.first:", "if False:"),
    Mutant("all receivers share a predecessor", "MessageRun.add_copy", "copy = RunCopy(self, peer, peer.last_sent)", "copy = RunCopy(self, peer, self.first - 1)"),
    # permits awaited
    Mutant("no permit is awaited", "HybridCore._deliver", "if frame.flagged and last > peer.best_permit:", "if False:"),
    Mutant("permits of plain messages are awaited", "HybridCore._deliver", "if frame.flagged and last > peer.best_permit:", "if last > peer.best_permit:"),
    Mutant("a permit that overtook is forgotten", "HybridCore._deliver", "if frame.flagged and last > peer.best_permit:", "if frame.flagged:"),
    Mutant("missing permits merge under a dependant", "HybridCore._await_permit", "newest.position == self.missing.next - 1 and self.depended < self.missing.next", "newest.position == self.missing.next - 1"),
    Mutant("missing permits merge across senders", "HybridCore._await_permit", "newest.position == self.missing.next - 1 and self.depended < self.missing.next", "self.depended < self.missing.next"),
    Mutant("sends are not recorded as depending on permits", "HybridCore._send_to", "        self.depended = self.missing.next\n", ""),
    Mutant("a permit covers one message more", "HybridCore._receive_permit", "peer.missing.peek().message_id <= upto", "peer.missing.peek().message_id <= upto + 1"),
    Mutant("a permit covers one message less", "HybridCore._receive_permit", "peer.missing.peek().message_id <= upto", "peer.missing.peek().message_id < upto"),
    Mutant("a permit clears everything of its sender", "HybridCore._receive_permit", "while len(peer.missing) and peer.missing.peek().message_id <= upto:", "while len(peer.missing):"),
    # runs
    Mutant("runs join across a secret", "HybridCore._continued", "or self.depended != self.missing.next:", "or False:"),
    Mutant("runs join across other messages", "HybridCore._continued", "if run.last != self.sent or len(run.copies) != len(peers):", "if len(run.copies) != len(peers):"),
    Mutant("runs join across group sizes", "HybridCore._continued", "if run.last != self.sent or len(run.copies) != len(peers):", "if run.last != self.sent or len(run.copies) < len(peers):"),
    Mutant("runs join across receivers", "HybridCore._continued", "            if copy.peer is not peers[number]:", "            if False:"),
    Mutant("a closed run grows", "MessageRun.has_room", "return self.open > 0 and len(self.payloads)", "return len(self.payloads)"),
    Mutant("a partly released group run grows", "MessageRun.has_room", "waiting = self.unsent == len(self.copies)", "waiting = self.unsent > 0"),
    Mutant("no run continues another", "HybridCore._send_to", "run.continues = last is not None", "run.continues = False"),
    Mutant("every run continues another", "HybridCore._send_to", "run.continues = last is not None", "run.continues = True"),
    # what may be lost
    Mutant("unacknowledged messages are not sent again", "PeerRecord.to_resend", "            if not copy.released:\n                break", "            if True:\n                break"),
    Mutant("unreleased messages leave on a tick", "PeerRecord.to_resend", "            if not copy.released:\n                break", "            if False:\n                break"),
    Mutant("missing permits are not requested again", "HybridCore._tick", "            if len(peer.missing):\n                self._transmit", "            if False:\n                self._transmit"),
    # peers that are gone
    Mutant("a drop closes nothing", "HybridCore._drop", "        for copy in gone.open.elements():\n            copy.close()", "        pass"),
    Mutant("a drop keeps the missing permits", "HybridCore._drop", "            self.missing.remove(permit)\n", "            pass\n"),
    Mutant("a drop grants nothing", "HybridCore._drop", "            self.missing.remove(permit)\n        self._shrink()", "            self.missing.remove(permit)"),
    Mutant("a drop releases nothing", "HybridCore._drop", "        self._shrink()\n        self._release_due(out)", "        self._shrink()"),
    Mutant("a dropped peer gets permits", "HybridCore._drop", "            run.copies = [copy for copy in run.copies if copy.peer is not gone]", "            pass"),
    Mutant("frames from a dropped peer are accepted", "Core._receive_fenced", "if self.fence is not None and sender in self.fence.known:\n            return", "if False:\n            return"),
    Mutant("drops do not travel", "Core._transmit", "            frame = self.fence.wrap(to, frame)", "            pass"),
    Mutant("drops that travel are not applied", "Core._receive_fenced", "            self._apply_drop(name, now, out)\n        self._receive", "            pass\n        self._receive"),
    Mutant("drops count as confirmed", "Fence.wrap", "start = self.confirmed.get(to, 0)", "start = len(self.log)"),
    Mutant("sending to a dropped peer is allowed", "Core._receivers", "                if name in self.fence.known:\n", "                if False:\n"),
    Mutant("a bad frame in a fence is used", "Core._receive_fenced", "        self._check(sender, frame.inner)\n", ""),
]  # fmt: skip
