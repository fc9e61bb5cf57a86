"""The mutants of `tree`: each breaks one condition, and each must be noticed.

The letters are those of docs/tree.md: a moves from b to c; F, H, L and K are the steps.
"""

from __future__ import annotations

from tests.mutants.mutant import Mutant

GUARDS = [
    "tests/protocols/tree/test_core.py",
    "tests/protocols/tree/test_drop.py",
    "tests/protocols/tree/test_topology.py",
    "tests/papers/test_tree.py",
    "tests/property/test_tree_slides.py",
]

# What each process must hold back during a slide, and when each way must turn.
HOLDS = [
    Mutant("a reads the new edge at once", "Slide.held_peer", "        if self.phase == MOVING:\n            return self.new\n", ""),
    Mutant("c reads the new edge at once", "Slide.held_peer", "        if self.phase == READY or self.phase == TURNING:\n            return self.mover\n", ""),
    Mutant("c reads the new edge after F", "Slide.held_peer", "if self.phase == READY or self.phase == TURNING:", "if self.phase == READY:"),
    Mutant("c reads the new edge before F", "Slide.held_peer", "if self.phase == READY or self.phase == TURNING:", "if self.phase == TURNING:"),
    Mutant("a passes b's broadcasts to c", "Slide.spared", "        if self.phase == MOVING and sender == self.old:\n            return self.new\n", ""),
    Mutant("c passes b's broadcasts to a before K", "Slide.spared", "        if self.phase == TURNING and sender == self.old:\n            return self.mover\n", ""),
    Mutant("c passes nobody's broadcasts to a before K", "Slide.spared", "if self.phase == TURNING and sender == self.old:", "if self.phase == TURNING:"),
    Mutant("a sends F and goes on sending to b", "Slides._leave", "        self._transmit(out, slide.old, TreeFarewell(self.process))\n        self.routes.reroute(self.routes.side(slide.old), parent)\n        self.routes.parent = parent\n", "        self._transmit(out, slide.old, TreeFarewell(self.process))\n"),
    Mutant("a sends its broadcasts to b after F", "Slides._leave", "        self.routes.parent = parent\n", ""),
    Mutant("b reroutes to c at F", "Slides._farewell", "            slide.phase = PASSED\n", "            slide.phase = PASSED\n            self.routes.reroute(self.routes.side(slide.mover), slide.new)\n"),
    Mutant("b gives a no broadcasts after F", "Slides._farewell", "            slide.phase = PASSED\n", "            slide.phase = PASSED\n            self.routes.remove_neighbour(slide.mover)\n"),
    Mutant("b sends L at F", "Slides._farewell", "            self._transmit(out, slide.new, TreeFarewell(slide.mover))\n", "            self._transmit(out, slide.new, TreeFarewell(slide.mover))\n            self._transmit(out, slide.mover, TreeLast(slide.mover))\n"),
    Mutant("b reroutes to c at H but keeps a as a neighbour", "Slides._hand_over", "        self.routes.remove_neighbour(slide.mover)\n", ""),
    Mutant("b never reroutes", "Slides._hand_over", "        self.routes.reroute(self.routes.side(slide.mover), slide.new)\n", ""),
    Mutant("c never reroutes", "Slides._farewell", "            self.routes.reroute(slide.side, slide.mover)\n", ""),
    Mutant("c gives a no broadcasts", "Slides._farewell", "            self.routes.add_child(slide.mover)\n", ""),
    Mutant("c sends H with its readiness", "Slides._locked", "            self._transmit(out, sender, TreeReady(frame.mover))\n", "            self._transmit(out, sender, TreeReady(frame.mover))\n            self._transmit(out, sender, TreeHandover(frame.mover))\n"),
    Mutant("held frames are processed in another order", "TreeCore._use_held", "for frame, since in slide.held:\n            self._receive", "for frame, since in reversed(slide.held):\n            self._receive"),
    Mutant("held frames are discarded", "TreeCore._use_held", "            self._receive(peer, frame, since, out)\n", "            pass\n"),
]  # fmt: skip

MUTANTS = [
    *HOLDS,
    # how messages travel
    Mutant("an interval ends too early", "Tree.hop", "if here < there < self.ends[here]:", "if here < there < self.ends[here] - 1:"),
    Mutant("an interval ends too late", "Tree.hop", "if here < there < self.ends[here]:", "if here < there <= self.ends[here]:"),
    Mutant("a child is not found below itself", "Tree.hop", "bisect_right(below, there) - 1", "bisect_right(below, there - 1) - 1"),
    Mutant("a broadcast goes back to its sender", "TreeCore._flood", "            if child != sender and child != spared:", "            if child != spared:"),
    Mutant("a broadcast from the parent goes back to it", "TreeCore._flood", "if routes.parent and routes.parent != sender and routes.parent", "if routes.parent and routes.parent"),
    Mutant("a message is delivered before it is forwarded", "TreeCore._forward", "        here = False\n", "        here = False\n        if self.process in frame.to:\n            out.append(Deliver(frame.source, frame.number, frame.payload))\n            frame = TreeMessage(frame.source, frame.number, tuple([n for n in frame.to if n != self.process]), frame.payload)\n"),
    Mutant("a part of a multicast keeps all addresses", "TreeCore._forward", "part = TreeMessage(frame.source, frame.number, tuple(names), frame.payload)", "part = TreeMessage(frame.source, frame.number, frame.to, frame.payload)"),
    # what no neighbour could send
    Mutant("frames from strangers are accepted", "Routes.check_link", "if sender not in self.tree.index or not self.behind(sender, sender, slide):", "if sender not in self.tree.index:"),
    Mutant("frames from a mover are accepted after F", "Routes.check_link", "if slide is not None and slide.phase == PASSED and sender == slide.mover:", "if False:"),
    Mutant("message 0 is accepted", "TreeCore._check_origin", "        if number < 1:", "        if number < 0:"),
    Mutant("an origin on another branch is accepted", "TreeCore._check_origin", "if source not in routes.tree.index or not routes.behind(sender, source, self.slides.slide):", "if source not in routes.tree.index:"),
    Mutant("messages without receivers are accepted", "TreeCore._check_message", "        if not frame.to:", "        if False:"),
    Mutant("messages go back", "TreeCore._check_message", "            if self.routes.behind(sender, name, slide):\n                raise RemoteProtocolError(sender, f\"a message", "            if False:\n                raise RemoteProtocolError(sender, f\"a message"),
    Mutant("duplicate receivers are accepted", "Routes.check_names", "            if name <= before:", "            if name < before:"),
    Mutant("unknown receivers are accepted", "Routes.check_names", "            if name not in self.tree.index:\n                raise RemoteProtocolError(sender, f\"{name!r} is", "            if False:\n                raise RemoteProtocolError(sender, f\"{name!r} is"),
    Mutant("c accepts frames from a for any origin", "Routes.behind", "                return name in slide.side", "                return True"),
    Mutant("a refuses what b still sends", "Routes.behind", "            if slide.phase == MOVING and sender == slide.old:\n                return self.hop(name) == slide.new\n", ""),
    Mutant("anybody's parent may ask", "Slides._check_ask", "        if sender == self.routes.parent:\n            raise", "        if False:\n            raise"),
    Mutant("a request for a descendant is accepted", "Slides._check_ask", "        if self.routes.behind(sender, target, self.slide):", "        if False:"),
    Mutant("a request for the asked process itself is accepted", "Slides._check_ask", "if target not in self.routes.tree.index or target == self.process:", "if target not in self.routes.tree.index:"),
    Mutant("a lock with a side on another branch is accepted", "Slides._check_lock", "            if not self.routes.behind(sender, name, self.slide):\n                raise", "            if False:\n                raise"),
    Mutant("a lock whose side lacks its mover is accepted", "Slides._check_lock", "if frame.mover not in frame.side or sender in frame.side:", "if sender in frame.side:"),
    Mutant("a lock whose side includes its parent is accepted", "Slides._check_lock", "if frame.mover not in frame.side or sender in frame.side:", "if frame.mover not in frame.side:"),
    Mutant("second requests are held", "Slides._check_free", "            if slide.holds_request():", "            if False:"),
    Mutant("requests in the middle of a slide are accepted", "Slides._check_free", "elif sender != slide.asks() or slide.crossing is not None:", "elif False:"),
    Mutant("an unsolicited permission is accepted", "Slides._check_go", "if slide is None or slide.phase != ASKING or sender != slide.old:", "if slide is None:"),
    Mutant("a permission to stay, or to move below oneself, is accepted", "Slides._check_go", "if parent not in routes.tree.index or parent == sender or routes.hop(parent) != sender:", "if parent not in routes.tree.index:"),
    Mutant("steps out of turn are accepted", "Slides.check", "if frame.mover not in self.routes.dropped and not self._is_due(sender, frame):", "if self.slide is None and not self._is_due(sender, frame):"),
    Mutant("F from the wrong side is accepted", "Slide.expects", "            if phase == GRANTED:\n                return sender == self.mover\n", "            if phase == GRANTED:\n                return True\n"),
    Mutant("H before F is accepted", "Slide.expects", "return phase == PASSED and sender == self.new", "return phase >= GRANTED and sender == self.new"),
    # locks and requests
    Mutant("a busy parent takes a second request", "Slides._asked", "        if self.slide is not None:\n            self._transmit(out, sender, TreeRefusal(sender, False))\n        elif", "        if"),
    Mutant("a busy process is ready", "Slides._locked", "elif slide is not None or frame.mover in self.routes.dropped:", "elif frame.mover in self.routes.dropped:"),
    Mutant("c is not asked", "Slides._asked", "            self._transmit(out, new, TreeLock(sender, tuple(self.routes.side(sender))))\n", "            self._transmit(out, new, TreeLock(sender, tuple(self.routes.side(sender))))\n            self.slide.phase = GRANTED\n            self._transmit(out, sender, TreeGo(new))\n"),
    Mutant("a process asks while it has a part", "Slides.ask", "if not self.target or self.slide is not None:", "if not self.target:"),
    Mutant("crossing requests are refused", "Slides._locked", "if slide is not None and sender == slide.asks() and slide.gives_way(self.process):", "if False:"),
    Mutant("crossing requests both give way", "Slide.gives_way", "return self.phase == ASKING or self.new < process", "return True"),
    Mutant("requests do not give way to locks", "Slide.gives_way", "return self.phase == ASKING or self.new < process", "return self.phase != ASKING and self.new < process"),
    Mutant("a crossing request is forgotten", "Slides._give_up", "            self._locked(slide.asks(), slide.crossing, out)\n", "            pass\n"),
    Mutant("a crossing request outlives its turn", "Slides.receive", "            slide.crossing = None  # its mover was dropped: otherwise this would be a refusal\n", ""),
    Mutant("a refusal is not passed on", "Slides._give_up", "            self._transmit(out, slide.mover, TreeRefusal(slide.mover, lasting))\n", "            pass\n"),
    Mutant("a refused process does not ask again", "TreeCore._tick", "    def _tick(self, now: i64, out: list[Effect]) -> None:\n        self._ask(out)", "    def _tick(self, now: i64, out: list[Effect]) -> None:\n        pass"),
    Mutant("a far parent is not reached by further slides", "TreeCore._use_held", "            self._receive(peer, frame, since, out)\n        self._ask(out)", "            self._receive(peer, frame, since, out)\n        self.target = \"\""),
    Mutant("a goal below is asked for", "Slides.ask", "if self.target == parent or self.routes.hop(self.target) != parent:", "if self.target == parent:"),
    Mutant("only the mover itself comes along", "Slides._asked", "TreeLock(sender, tuple(self.routes.side(sender)))", "TreeLock(sender, (sender,))"),
    # peers that are gone
    Mutant("an inner process is dropped", "TreeCore.drop", "if not self.is_dropped(name) and name in self.routes.tree.index and self._is_inner(name):", "if False:"),
    Mutant("a parent in the middle of a slide is dropped", "TreeCore._is_inner", "            and (peer == slide.old or peer == slide.new)\n", "            and False\n"),
    Mutant("what was dropped makes an inner process", "Routes.leads_on", "if name != peer and name not in self.dropped and self.hop(name) == peer:", "if name != peer and self.hop(name) == peer:"),
    Mutant("a dropped leaf gets broadcasts", "TreeCore._drop", "        self.routes.remove_neighbour(peer)\n", ""),
    Mutant("a dropped goal is kept", "Slides.drop", "        if peer == self.target:\n            self.target = \"\"\n", ""),
    Mutant("a dropped mover binds the others", "Slides.drop", "            self._give_up(slide, False, out)\n        elif peer == slide.asks():", "            pass\n        elif peer == slide.asks():"),
    Mutant("a dropped mover is not announced", "Slides.drop", "            self._transmit(out, other, TreeGone(peer))\n", ""),
    Mutant("steps about a dropped mover are rejected", "Slides.check", "if frame.mover not in self.routes.dropped and not self._is_due(sender, frame):", "if not self._is_due(sender, frame):"),
    Mutant("a dropped mover is adopted", "Slides._locked", "elif slide is not None or frame.mover in self.routes.dropped:", "elif slide is not None:"),
    Mutant("a dropped parent is waited for", "Slides.drop", "        elif peer == slide.asks():\n            slide.crossing = None\n", "        elif False:\n            slide.crossing = None\n"),
    Mutant("sending to unreachable processes is allowed", "TreeCore._check_receivers", "            if self.routes.unreachable(name) and not self.is_dropped(name):", "            if False:"),
    Mutant("messages are forwarded to dropped processes", "Routes.branches", "            if not self.unreachable(name):\n                branches", "            if True:\n                branches"),
    Mutant("no refusal is permanent", "Slides._refused", "        if slide.phase == ASKING and lasting:", "        if False:"),
]  # fmt: skip
