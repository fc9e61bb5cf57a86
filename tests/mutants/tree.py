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
    Mutant("a sends F and goes on sending to b", "TreeCore._leave", "        self._tell(out, slide.old, TreeFarewell(self.process))\n        self._turn(self.side(slide.old), parent)\n        self.parent = parent\n", "        self._tell(out, slide.old, TreeFarewell(self.process))\n"),
    Mutant("a sends its broadcasts to b after F", "TreeCore._leave", "        self.parent = parent\n", ""),
    Mutant("b turns to c at F", "TreeCore._take_leave", "            slide.phase = PASSED\n", "            slide.phase = PASSED\n            self._turn(self.side(slide.mover), slide.new)\n"),
    Mutant("b gives a no broadcasts after F", "TreeCore._take_leave", "            slide.phase = PASSED\n", "            slide.phase = PASSED\n            self._forget(slide.mover)\n"),
    Mutant("b sends L at F", "TreeCore._take_leave", "            self._tell(out, slide.new, TreeFarewell(slide.mover))\n", "            self._tell(out, slide.new, TreeFarewell(slide.mover))\n            self._tell(out, slide.mover, TreeLast(slide.mover))\n"),
    Mutant("b turns to c at H but keeps a as a neighbour", "TreeCore._hand_over", "        self._forget(slide.mover)\n        self._finish", "        self._finish"),
    Mutant("b never turns", "TreeCore._hand_over", "        self._turn(self.side(slide.mover), slide.new)\n", ""),
    Mutant("c never turns", "TreeCore._take_leave", "            self._turn(slide.side, slide.mover)\n", ""),
    Mutant("c gives a no broadcasts", "TreeCore._take_leave", "            self.children = tuple(sorted([*self.children, slide.mover]))\n", ""),
    Mutant("c sends H with its readiness", "TreeCore._locked", "            self._tell(out, sender, TreeReady(frame.mover))\n", "            self._tell(out, sender, TreeReady(frame.mover))\n            self._tell(out, sender, TreeHandover(frame.mover))\n"),
    Mutant("what was held is used in another order", "TreeCore._finish", "for frame, since in slide.held:\n            self._receive", "for frame, since in reversed(slide.held):\n            self._receive"),
    Mutant("what was held is forgotten", "TreeCore._finish", "            self._receive(peer, frame, since, out)\n", "            pass\n"),
]  # fmt: skip

MUTANTS = [
    *HOLDS,
    # how messages travel
    Mutant("an interval ends too early", "Tree.hop", "if here < there < self.ends[here]:", "if here < there < self.ends[here] - 1:"),
    Mutant("an interval ends too late", "Tree.hop", "if here < there < self.ends[here]:", "if here < there <= self.ends[here]:"),
    Mutant("a child is not found below itself", "Tree.hop", "bisect_right(below, there) - 1", "bisect_right(below, there - 1) - 1"),
    Mutant("a broadcast goes back", "TreeRoutes._flood", "            if child != sender and child != spared:", "            if child != spared:"),
    Mutant("a broadcast goes back up", "TreeRoutes._flood", "if self.parent and self.parent != sender and self.parent", "if self.parent and self.parent"),
    Mutant("delivered before it is passed on", "TreeRoutes._forward", "        here = False\n", "        here = False\n        if self.process in frame.to:\n            out.append(Deliver(frame.source, frame.number, frame.payload))\n            frame = TreeMessage(frame.source, frame.number, tuple([n for n in frame.to if n != self.process]), frame.payload)\n"),
    Mutant("a part of a multicast keeps all addresses", "TreeRoutes._forward", "part = TreeMessage(frame.source, frame.number, tuple(names), frame.payload)", "part = TreeMessage(frame.source, frame.number, frame.to, frame.payload)"),
    # what no neighbour could send
    Mutant("strangers are heard", "TreeRoutes._check_link", "if sender not in self.tree.places or not self._behind(sender, sender):", "if sender not in self.tree.places:"),
    Mutant("a mover is heard after F", "TreeRoutes._check_link", "if slide is not None and slide.phase == PASSED and sender == slide.mover:", "if False:"),
    Mutant("message 0 is believed", "TreeRoutes._check_origin", "        if number < 1:", "        if number < 0:"),
    Mutant("origins elsewhere are believed", "TreeRoutes._check_origin", "if source not in self.tree.places or not self._behind(sender, source):", "if source not in self.tree.places:"),
    Mutant("messages to nobody are believed", "TreeRoutes._check_message", "        if not frame.to:", "        if False:"),
    Mutant("messages go back", "TreeRoutes._check_message", "            if self._behind(sender, name):\n                raise RemoteProtocolError(sender, f\"a message", "            if False:\n                raise RemoteProtocolError(sender, f\"a message"),
    Mutant("receivers come twice", "TreeRoutes._check_names", "            if name <= before:", "            if name < before:"),
    Mutant("receivers are strangers", "TreeRoutes._check_names", "            if name not in self.tree.places:\n                raise RemoteProtocolError(sender, f\"{name!r} is", "            if False:\n                raise RemoteProtocolError(sender, f\"{name!r} is"),
    Mutant("c believes a whatever its side", "TreeRoutes._behind", "                return name in slide.side", "                return True"),
    Mutant("a refuses what b still sends", "TreeRoutes._behind", "            if slide.phase == MOVING and sender == slide.old:\n                return self.hop(name) == slide.new\n", ""),
    Mutant("anybody's parent may ask", "TreeCore._check_ask", "        if sender == self.parent:\n            raise", "        if False:\n            raise"),
    Mutant("a question about what is below", "TreeCore._check_ask", "        if self._behind(sender, target):", "        if False:"),
    Mutant("a question about oneself", "TreeCore._check_ask", "if target not in self.tree.places or target == self.process:", "if target not in self.tree.places:"),
    Mutant("a side that is elsewhere", "TreeCore._check_lock", "            if not self._behind(sender, name):\n                raise", "            if False:\n                raise"),
    Mutant("a side without its mover", "TreeCore._check_lock", "if frame.mover not in frame.side or sender in frame.side:", "if sender in frame.side:"),
    Mutant("a side with its parent", "TreeCore._check_lock", "if frame.mover not in frame.side or sender in frame.side:", "if frame.mover not in frame.side:"),
    Mutant("second requests are held", "TreeCore._check_free", "            if slide.holds_request():", "            if False:"),
    Mutant("requests in the middle", "TreeCore._check_free", "elif sender != slide.asks() or slide.crossing is not None:", "elif False:"),
    Mutant("a permission that was not asked for", "TreeCore._check_go", "if slide is None or slide.phase != ASKING or sender != slide.old:", "if slide is None:"),
    Mutant("a permission to stay or to hang below oneself", "TreeCore._check_go", "if parent not in self.tree.places or parent == sender or self.hop(parent) != sender:", "if parent not in self.tree.places:"),
    Mutant("steps out of turn", "TreeCore._check", "if not self.is_dropped(frame.mover) and not self._is_due(sender, frame):", "if self.slide is None and not self._is_due(sender, frame):"),
    Mutant("F from the wrong side", "TreeCore._is_due", "            if phase == GRANTED:\n                return sender == slide.mover\n", "            if phase == GRANTED:\n                return True\n"),
    Mutant("H before F", "TreeCore._is_due", "return phase == PASSED and sender == slide.new", "return phase >= GRANTED and sender == slide.new"),
    # locks and requests
    Mutant("a busy parent takes a second request", "TreeCore._asked", "        if self.slide is not None:\n            self._tell(out, sender, TreeRefusal(sender, False))\n        elif", "        if"),
    Mutant("a busy process is ready", "TreeCore._locked", "elif slide is not None or self.is_dropped(frame.mover):", "elif self.is_dropped(frame.mover):"),
    Mutant("c is not asked", "TreeCore._asked", "            self._tell(out, new, TreeLock(sender, tuple(self.side(sender))))\n", "            self._tell(out, new, TreeLock(sender, tuple(self.side(sender))))\n            self.slide.phase = GRANTED\n            self._tell(out, sender, TreeGo(new))\n"),
    Mutant("a process asks while it has a part", "TreeCore._ask", "if not self.target or self.slide is not None:", "if not self.target:"),
    Mutant("crossing requests are refused", "TreeCore._locked", "if slide is not None and sender == slide.asks() and self._gives_way(slide):", "if False:"),
    Mutant("crossing requests both give way", "TreeCore._gives_way", "return slide.phase == ASKING or slide.new < self.process", "return True"),
    Mutant("questions do not give way to locks", "TreeCore._gives_way", "return slide.phase == ASKING or slide.new < self.process", "return slide.phase != ASKING and slide.new < self.process"),
    Mutant("a crossing request is forgotten", "TreeCore._give_up", "            self._locked(slide.asks(), slide.crossing, out)\n", "            pass\n"),
    Mutant("a crossing request outlives its turn", "TreeCore._step", "            slide.crossing = None  # its mover was dropped: otherwise this would be a refusal\n", ""),
    Mutant("a refusal is not passed on", "TreeCore._give_up", "            self._tell(out, slide.mover, TreeRefusal(slide.mover, lasting))\n", "            pass\n"),
    Mutant("a refused process does not ask again", "TreeCore._tick", "    def _tick(self, now: i64, out: list[Effect]) -> None:\n        self._ask(out)", "    def _tick(self, now: i64, out: list[Effect]) -> None:\n        pass"),
    Mutant("one slide is enough", "TreeCore._finish", "            self._receive(peer, frame, since, out)\n        self._ask(out)", "            self._receive(peer, frame, since, out)\n        self.target = \"\""),
    Mutant("a goal below is asked for", "TreeCore._ask", "if self.target == self.parent or self.hop(self.target) != self.parent:", "if self.target == self.parent:"),
    Mutant("only the mover itself comes along", "TreeCore._asked", "TreeLock(sender, tuple(self.side(sender)))", "TreeLock(sender, (sender,))"),
    # peers that are gone
    Mutant("an inner process is dropped", "TreeCore.drop", "if not self.is_dropped(name) and name in self.tree.places and self._leads_on(name):", "if False:"),
    Mutant("a parent in the middle of a slide is dropped", "TreeCore._leads_on", "            and (peer == slide.old or peer == slide.new)\n", "            and False\n"),
    Mutant("what was dropped makes an inner process", "TreeCore._leads_on", "if name != peer and not self.is_dropped(name) and self.hop(name) == peer:", "if name != peer and self.hop(name) == peer:"),
    Mutant("a dropped leaf gets broadcasts", "TreeCore._drop", "        self._forget(peer)\n        if peer == self.target:", "        if peer == self.target:"),
    Mutant("a dropped goal is kept", "TreeCore._drop", "        if peer == self.target:\n            self.target = \"\"\n", ""),
    Mutant("a dropped mover binds the others", "TreeCore._drop", "            self._give_up(slide, False, out)\n        elif peer == slide.asks():", "            pass\n        elif peer == slide.asks():"),
    Mutant("nobody hears of a dropped mover", "TreeCore._drop", "            self._tell(out, other, TreeGone(peer))\n", ""),
    Mutant("steps about a dropped mover are wrong", "TreeCore._check", "if not self.is_dropped(frame.mover) and not self._is_due(sender, frame):", "if not self._is_due(sender, frame):"),
    Mutant("a dropped mover is taken in", "TreeCore._locked", "elif slide is not None or self.is_dropped(frame.mover):", "elif slide is not None:"),
    Mutant("a dropped parent is waited for", "TreeCore._drop", "        elif peer == slide.asks():\n            slide.crossing = None\n", "        elif False:\n            slide.crossing = None\n"),
    Mutant("the unreachable is sent to", "TreeRoutes._check_receivers", "            if self._lost(name) and not self.is_dropped(name):", "            if False:"),
    Mutant("the dropped is passed on to", "TreeRoutes._branches", "            if not self._lost(name):\n                branches", "            if True:\n                branches"),
    Mutant("no refusal lasts", "TreeCore._refused", "        if slide.phase == ASKING and lasting:", "        if False:"),
]  # fmt: skip
