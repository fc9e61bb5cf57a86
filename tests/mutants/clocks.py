"""The mutants of `vector` and `newtop`: each breaks one condition, and each must be noticed."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

GUARDS = [
    "tests/protocols/clocks/test_vector.py",
    "tests/protocols/clocks/test_newtop.py",
]

MUTANTS = [
    # vector: sending
    Mutant("vector: a send is not counted", "Vector._broadcast", "            self.clock[self.me] = int(self.sent)\n", ""),
    Mutant("vector: a broadcast is not delivered locally", "Vector._broadcast", "            out.append(Deliver(self.process, self.sent, payload))\n", ""),
    Mutant("vector: local delivery precedes the transmissions", "Vector._broadcast", "            for peer in self.peers:\n                self._transmit(out, peer, frame)\n            out.append(Deliver(self.process, self.sent, payload))\n", "            out.append(Deliver(self.process, self.sent, payload))\n            for peer in self.peers:\n                self._transmit(out, peer, frame)\n"),
    # vector: delivering
    Mutant("vector: nothing waits", "Vector._needs", "if count > self.queue.progress.get(name, 0):", "if False:"),
    Mutant("vector: others may lag by one", "Vector._needs", "            if count > mine[position]:", "            if count > mine[position] + 1:"),
    Mutant("vector: only the sender's own order counts", "Vector._needs", "            if count > mine[position]:", "            if count > mine[position] and self.members.names[position] == sender:"),
    Mutant("vector: the sender's own order does not count", "Vector._needs", "                    count -= 1  # its", "                    count = 0  # its"),
    Mutant("vector: a message waits for itself", "Vector._needs", "                    count -= 1  # its", "                    count -= 0  # its"),
    Mutant("vector: a delivery is not counted", "Vector._learn", "        self.clock[self.members.index[message.sender]] = message.order\n", "        pass\n"),
    Mutant("vector: a delivery releases nothing", "HoldBackCore._deliver", "            ready.extend(self.queue.advance(message.sender, message.order))", "            self.queue.advance(message.sender, message.order)"),
    # vector: what no correct peer could send
    Mutant("vector: frames from strangers are accepted", "Vector._check", 'if sender not in self.members.index:\n            raise RemoteProtocolError(sender, "is not', 'if False:\n            raise RemoteProtocolError(sender, "is not'),
    Mutant("vector: longer clocks are accepted", "Vector._check", "if len(clock) != len(self.members):", "if len(clock) < len(self.members):"),
    Mutant("vector: shorter clocks are accepted", "Vector._check", "if len(clock) != len(self.members):", "if len(clock) > len(self.members):"),
    Mutant("vector: negative counts are accepted", "Vector._check", "if min(clock) < 0:", "if False:"),
    Mutant("vector: a message need not count itself", "Vector._check", "if number < 1 or number != counted:", "if number < 1:"),
    Mutant("vector: message 0 is accepted", "Vector._check", "if number < 1 or number != counted:", "if number < 0 or number != counted:"),
    Mutant("vector: a clock may count sends that never happened", "Vector._check", "if clock[self.me] > self.sent:", "if clock[self.me] > self.sent + 1:"),
    Mutant("vector: duplicates of delivered messages are accepted", "Vector._check", "if number <= self.queue.progress.get(sender, 0) or (sender", "if (sender"),
    Mutant("vector: duplicates of waiting messages are accepted", "Vector._check", " or (sender, number) in self.queue.messages:", ":"),
    # vector: peers that are gone
    Mutant("vector: a drop releases nothing", "HoldBackCore._drop", "        self._deliver(self.queue.advance(peer, FOREVER), out)", "        self.queue.advance(peer, FOREVER)"),
    Mutant("vector: a drop releases everything", "HoldBackCore._drop", "        self._deliver(self.queue.advance(peer, FOREVER), out)", "        waiting = self.queue.sorted()\n        self.queue.clear()\n        self._deliver(waiting, out)"),
    Mutant("vector: messages from a dropped peer are kept", "HoldBackCore._drop", "        self.queue.discard(peer)\n", ""),
    Mutant("vector: broadcasts still go to a dropped peer", "Vector._drop", "        self.peers = [name for name in self.peers if name != peer]\n", ""),
    Mutant("vector: the clock entry of a dropped peer is raised", "Vector._drop", "        super()._drop(peer, now, out)\n", "        super()._drop(peer, now, out)\n        self.clock[self.members.index[peer]] = 2**62\n"),
    # vector: looking inside
    Mutant("vector: copies share the clock", "Vector.copy", "twin.clock = self.clock.copy()", "twin.clock = self.clock"),
    Mutant("vector: copies share the waiting messages", "HoldBackCore._copy_base", "twin.queue = self.queue.copy()", "twin.queue = self.queue"),
    Mutant("vector: the clock is not counted as state", "Vector.entries", "len(self.members) * (1 + len(self.queue.messages))", "len(self.members) * len(self.queue.messages)"),
    # newtop: sending
    Mutant("newtop: a send does not advance the clock", "Newtop._broadcast", "            self.clock += 1\n", "            self.clock += 1 if self.clock == 0 else 0\n"),
    Mutant("newtop: the sender does not buffer its own copy", "Newtop._broadcast", "            heappush(self.buffer, (int(self.clock), self.me, frame, int(now)))\n", ""),
    Mutant("newtop: the sender delivers its own copy at once", "Newtop._broadcast", "            heappush(self.buffer, (int(self.clock), self.me, frame, int(now)))\n", "            out.append(Deliver(self.process, frame.number, payload))\n"),
    Mutant("newtop: a group of one waits forever", "Newtop._broadcast", "        self._deliver(out)  # where there are no peers to wait for\n", ""),
    # newtop: the clock
    Mutant("newtop: the clock ignores received clocks", "Newtop._observe", "        if clock > self.clock:\n", "        if False:\n"),
    Mutant("newtop: the clock can go backwards", "Newtop._observe", "        if clock > self.clock:\n", "        if True:\n"),
    Mutant("newtop: nulls do not move the clock", "Newtop._receive", "            assert isinstance(frame, NewtopNull)\n            self._observe(position, frame.clock)", "            assert isinstance(frame, NewtopNull)\n            self.last_clock[position] = int(frame.clock)"),
    Mutant("newtop: the clocks of nulls are not recorded", "Newtop._receive", "            assert isinstance(frame, NewtopNull)\n            self._observe(position, frame.clock)", "            assert isinstance(frame, NewtopNull)\n            self.clock = max(self.clock, frame.clock)"),
    Mutant("newtop: the clocks of messages are not recorded", "Newtop._receive", "int(now)))\n            self._observe(position, frame.clock)\n", "int(now)))\n            self.clock = max(self.clock, frame.clock)\n"),
    # newtop: null messages
    Mutant("newtop: no nulls are sent", "Newtop._tick", "if self.clock > self.announced:", "if False:"),
    Mutant("newtop: nulls are sent forever", "Newtop._tick", "if self.clock > self.announced:", "if self.clock > 0:"),
    Mutant("newtop: a null is announced again", "Newtop._tick", "            self.announced = self.clock\n            frame = NewtopNull(self.clock)", "            frame = NewtopNull(self.clock)"),
    Mutant("newtop: a message does not announce the clock", "Newtop._broadcast", "            self.announced = self.clock\n            frame = NewtopMessage", "            frame = NewtopMessage"),
    # newtop: delivering
    Mutant("newtop: messages are delivered one clock early", "Newtop._deliver", "buffer[0][0] <= upto", "buffer[0][0] <= upto + 1"),
    Mutant("newtop: messages are delivered one clock late", "Newtop._deliver", "buffer[0][0] <= upto", "buffer[0][0] < upto"),
    Mutant("newtop: only one message is delivered at a time", "Newtop._deliver", "        while buffer and buffer[0][0]", "        if buffer and buffer[0][0]"),
    Mutant("newtop: messages are delivered in the order of arrival", "Newtop._receive", "            heappush(self.buffer, (int(frame.clock), position, frame, int(now)))", "            self.buffer.append((int(frame.clock), position, frame, int(now)))"),
    Mutant("newtop: ties are broken by sender in reverse", "Newtop._receive", "            heappush(self.buffer, (int(frame.clock), position, frame, int(now)))", "            heappush(self.buffer, (int(frame.clock), -position, frame, int(now)))"),
    Mutant("newtop: stale clocks count", "Newtop._stable_clock", "            if clock == self.last_clock[position]:\n                return clock", "            if clock == self.last_clock[position] or clock > 0:\n                return clock"),
    Mutant("newtop: the first clock counts for all peers", "Newtop._stable_clock", "            heapreplace(lowest, (self.last_clock[position], position))", "            return self.last_clock[position]"),
    Mutant("newtop: peers that have sent nothing do not count", "Newtop.__init__", "self.lowest = [(0, self.members.index[name]) for name in self.peers]", "self.lowest = []"),
    # newtop: what no correct peer could send
    Mutant("newtop: frames from strangers are accepted", "Newtop._check", "        if sender not in self.members.index:", "        if False:"),
    Mutant("newtop: a peer's clock may stand still", "Newtop._check", "if frame.clock <= self.last_clock[position]:", "if frame.clock < self.last_clock[position]:"),
    Mutant("newtop: a peer's clock may go backwards", "Newtop._check", "if frame.clock <= self.last_clock[position]:", "if False:"),
    Mutant("newtop: gaps in the numbering are accepted", "Newtop._check", "frame.number != self.numbers[position] + 1:", "frame.number < self.numbers[position] + 1:"),
    Mutant("newtop: duplicates are accepted", "Newtop._check", "frame.number != self.numbers[position] + 1:", "frame.number > self.numbers[position] + 1:"),
    Mutant("newtop: messages are not numbered", "Newtop._receive", "            self.numbers[position] = int(frame.number)\n", ""),
    # newtop: peers that are gone
    Mutant("newtop: a dropped peer is waited for", "Newtop._drop", "        self.lowest = [entry for entry in self.lowest if entry[1] != gone]\n", ""),
    Mutant("newtop: only a dropped peer is waited for", "Newtop._drop", "if entry[1] != gone]", "if entry[1] == gone]"),
    Mutant("newtop: a drop delivers nothing", "Newtop._drop", "        heapify(self.lowest)\n        self._deliver(out)", "        heapify(self.lowest)"),
    Mutant("newtop: a drop discards the peer's buffered messages", "Newtop._drop", "        heapify(self.lowest)\n", "        heapify(self.lowest)\n        self.buffer = [entry for entry in self.buffer if entry[1] != gone]\n        heapify(self.buffer)\n"),
    Mutant("newtop: a drop breaks the heap of lowest clocks", "Newtop._drop", "        heapify(self.lowest)\n", "        self.lowest.reverse()\n"),
    Mutant("newtop: broadcasts still go to a dropped peer", "Newtop._drop", "        self.peers = [name for name in self.peers if name != peer]\n", ""),
    # newtop: looking inside
    Mutant("newtop: held names peers that no message waits for", "Newtop.held", "if self.last_clock[index[peer]] < clock", "if self.last_clock[index[peer]] <= clock"),
    Mutant("newtop: copies share the clocks", "Newtop.copy", "twin.last_clock = self.last_clock.copy()", "twin.last_clock = self.last_clock"),
    Mutant("newtop: copies share the buffer", "Newtop.copy", "twin.buffer = self.buffer.copy()", "twin.buffer = self.buffer"),
    Mutant("newtop: copies forget the announced clock", "Newtop.copy", "        twin.announced = self.announced\n", ""),
    Mutant("newtop: copies forget the numbers", "Newtop.copy", "        twin.numbers = self.numbers.copy()\n", ""),
    Mutant("newtop: copies share the heap of lowest clocks", "Newtop.copy", "        twin.lowest = self.lowest.copy()\n", "        twin.lowest = self.lowest\n"),
]  # fmt: skip
