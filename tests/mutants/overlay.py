"""The mutants of `link-memory`, `preventive` and `prc`: each must be noticed.

First the slips of the printed algorithms, and what would be left out if one built just what is printed
(`overlay_slips.py` has the smallest run that each of them breaks); then one condition after the other.
"""

from __future__ import annotations

from tests.mutants.mutant import Mutant

GUARDS = [
    "tests/papers/test_prc.py",
    "tests/papers/test_prc_slips.py",
    "tests/protocols/overlay/test_bad_input.py",
    "tests/protocols/overlay/test_links.py",
    "tests/property/test_overlay_churn.py",
]

# With these a core takes control information over any link, as one must who sends it directly.
FROM_ANYWHERE = ("OverlayCore._accepts_from", "return sender in self.links.incoming", "return True")
ROUTED = "from beforehand.protocols.overlay.frames import Routed\n        "
GONE_ARE_HEARD = (
    "OverlayCore._receive",
    "elif self.links.left or sender in self.links.departed_names:",
    "elif self.links.left:",
)
BUFFERED = """        del self.accepting[sender]
        self.links.incoming[sender] = int(frame.e)
        for relayed_id in accepting.pi.difference([relayed.id for relayed in frame.frames]):
            self.expected.expect(relayed_id, sender)
        for relayed in frame.frames:
            if relayed.id not in accepting.alpha and relayed.id not in accepting.pi:
                self._receive_relayed(relayed, sender, now, out)
"""
BUFFERED_AS_PRINTED = """        del self.accepting[sender]
        for relayed in frame.frames:
            if relayed.id not in accepting.alpha and relayed.id not in accepting.pi:
                self._receive_relayed(relayed, "", now, out)
        self.links.incoming[sender] = int(frame.e)
        for relayed_id in accepting.pi.difference([relayed.id for relayed in frame.frames]):
            self.expected.expect(relayed_id, sender)
"""

SLIPS = [
    Mutant("Qi gains the link after B-beta was used", "Prc._receive_buffered", BUFFERED, BUFFERED_AS_PRINTED),
    Mutant("B-beta is a set", "Prc._receive_rho", "tuple(opening.buffer))))\n", "tuple(opening.buffer[::-1]))))\n"),
    Mutant("B-beta has no payloads", "Prc._receive_buffered", "        for relayed in frame.frames:\n            if", "        for relayed in frame.frames[:0]:\n            if"),
    Mutant("data count on any link", "Prc._receive_relayed", "if sender and sender not in self.links.incoming:", "if False:"),
    Mutant("control counts on any link", "OverlayCore._receive", "if not self._accepts_from(sender):", "if False:", (GONE_ARE_HEARD,)),
    Mutant("a safe link is opened again", "OverlayCore.open", "if name not in links.out and not self.is_opening(name):", "if not self.is_opening(name):"),
    Mutant("beta has no incarnation", "Prc._receive_beta", "if opening is None or opening.e != control.e or opening.phase != ASKED:", "if opening is None or opening.phase != ASKED:", (("Prc._receive_beta", "pi = Control(PI, self.process, control.acceptor, control.e)", "pi = Control(PI, self.process, control.acceptor, opening.e)"),)),
    Mutant("pi has no incarnation", "Prc._receive_pi", "if accepting is None or accepting.e != control.e or accepting.got_pi:", "if accepting is None or accepting.got_pi:", (("Prc._receive_pi", "rho = Control(RHO, control.opener, self.process, control.e)", "rho = Control(RHO, control.opener, self.process, accepting.e)"),)),
    Mutant("rho has no incarnation", "Prc._receive_rho", "if opening is None or opening.e != control.e or opening.phase != RECORDING:", "if opening is None or opening.phase != RECORDING:"),
    Mutant("beta is accepted although no link is being opened", "Prc._receive_beta", "if opening is None or opening.e != control.e or opening.phase != ASKED:", "if opening.e != control.e or opening.phase != ASKED:"),
    Mutant("pi is accepted although no link is being opened", "Prc._receive_pi", "if accepting is None or accepting.e != control.e or accepting.got_pi:", "if accepting.e != control.e or accepting.got_pi:"),
    Mutant("rho is accepted although no link is being opened", "Prc._receive_rho", "if opening is None or opening.e != control.e or opening.phase != RECORDING:", "if opening.e != control.e or opening.phase != RECORDING:"),
    Mutant("beta is sent directly", "Prc._receive_alpha", "self._send_control(frame.back, Control(BETA, sender, self.process, frame.e), out)", ROUTED + "out.append(Transmit(sender, Routed((), Control(BETA, sender, self.process, frame.e))))", (FROM_ANYWHERE,)),
    Mutant("pi is sent directly", "Prc._receive_beta", "self._send_control(opening.route, pi, out)", ROUTED + "out.append(Transmit(control.acceptor, Routed((), pi)))", (FROM_ANYWHERE,)),
    Mutant("rho is sent directly", "Prc._receive_pi", "self._send_control(accepting.back, rho, out)", ROUTED + "out.append(Transmit(control.opener, Routed((), rho)))", (FROM_ANYWHERE,)),
    Mutant("close leaves Qi alone", "OverlayCore._receive_close", "            del self.links.incoming[sender]\n            self._incoming_removed(sender)\n        else", "            self._incoming_removed(sender)\n        else"),
    Mutant("close leaves Qo alone", "OverlayCore.close", "e = self.links.out.pop(name, -1)", "e = self.links.out.get(name, -1)"),
    Mutant("close leaves E alone", "OverlayCore._receive_close", "            del self.links.incoming[sender]\n            self._incoming_removed(sender)\n        else", "            del self.links.incoming[sender]\n        else"),
    Mutant("no time-out for a mediator that crashes", "Prc._tick", "if opening.phase == REFUSED or opening.age > opening.timeout:", "if opening.phase == REFUSED:"),
    Mutant("joining through two contacts at once", "OverlayCore.join", "        if self.contact:\n            raise LocalProtocolError(\n                f\"{self.process}: is already joining through", "        if False:\n            raise LocalProtocolError(\n                f\"{self.process}: is already joining through", (("OverlayCore._receive_welcome", "if sender != self.contact or not self.requested:", "if False:"),)),
    Mutant("delivering before forwarding", "Prc._receive_relayed", "            self._forward(frame, out)\n            self._deliver(frame, out)\n", "            self._deliver(frame, out)\n            self._forward(frame, out)\n"),
    Mutant("preventive: a pong has no incarnation", "Preventive._receive_signal", "if pinging is None or not isinstance(frame, Pong) or pinging.e != frame.e:", "if pinging is None or not isinstance(frame, Pong):"),
    Mutant("preventive: the ping is sent directly", "Preventive._ping", "self._send_control(route, Control(PING, self.process, peer, e), out)", ROUTED + "out.append(Transmit(peer, Routed((), Control(PING, self.process, peer, e))))"),
]  # fmt: skip

CONDITIONS = [
    # control in its turn
    Mutant("beta is accepted in any phase", "Prc._receive_beta", "if opening is None or opening.e != control.e or opening.phase != ASKED:", "if opening is None or opening.e != control.e:"),
    Mutant("pi is accepted in any phase", "Prc._receive_pi", "if accepting is None or accepting.e != control.e or accepting.got_pi:", "if accepting is None or accepting.e != control.e:"),
    Mutant("rho is accepted in any phase", "Prc._receive_rho", "if opening is None or opening.e != control.e or opening.phase != RECORDING:", "if opening is None or opening.e != control.e:"),
    Mutant("control counts on links that are not in use", "OverlayCore._receive", "if not self._accepts_from(sender):", "if False:"),
    # passing on, and the memory of links
    Mutant("nothing is expected again", "ExpectedCopies.receive", "        if links:\n            self.awaited[relayed] = links\n", ""),
    Mutant("received copies are expected again", "ExpectedCopies.receive", "        links.discard(sender)\n        if links:\n", "        if links:\n"),
    Mutant("an expected copy counts as new", "ExpectedCopies.receive", "        if links is not None:\n            links.discard(sender)", "        if links is None:\n            links.discard(sender)"),
    Mutant("received copies are never removed from the expected set", "ExpectedCopies.receive", "            links.discard(sender)\n            if not links:\n                del self.awaited[relayed]\n            return False\n", "            return False\n"),
    Mutant("one copy removes all expected ones", "ExpectedCopies.receive", "            if not links:\n                del self.awaited[relayed]\n            return False\n", "            del self.awaited[relayed]\n            return False\n"),
    Mutant("copies are still expected over a closed link", "ExpectedCopies.forget_link", "        for relayed in self.over(sender):\n", "        for relayed in ():\n"),
    Mutant("closing a link clears the memory of all links", "ExpectedCopies.forget_link", "            links = self.awaited[relayed]\n            links.discard(sender)\n            if not links:\n                del", "            links = self.awaited[relayed]\n            if links:\n                del"),
    Mutant("nothing is forwarded", "Prc._receive_relayed", "            self._forward(frame, out)\n", ""),
    # the handshake
    Mutant("A buffers nothing", "Prc._record_delivery", "                opening.buffer.append(frame)\n", ""),
    Mutant("A buffers from alpha on", "Prc._record_delivery", "            if opening.phase == RECORDING:\n                opening", "            if True:\n                opening"),
    Mutant("everything that B delivers goes into B-alpha", "Prc._record_delivery", "delivered = accepting.pi if accepting.got_pi else accepting.alpha", "delivered = accepting.alpha"),
    Mutant("everything that B delivers goes into B-pi", "Prc._record_delivery", "delivered = accepting.pi if accepting.got_pi else accepting.alpha", "delivered = accepting.pi"),
    Mutant("B records nothing", "Prc._record_delivery", "            delivered.add(frame.id)\n", ""),
    Mutant("B expects nothing over the new link", "Prc._receive_buffered", "            self.expected.expect(relayed_id, sender)\n", "            pass\n"),
    Mutant("B expects all of B-pi", "Prc._receive_buffered", "accepting.pi.difference([relayed.id for relayed in frame.frames])", "accepting.pi.difference([])"),
    Mutant("B delivers what is in B-alpha", "Prc._receive_buffered", "if relayed.id not in accepting.alpha and relayed.id not in accepting.pi:", "if relayed.id not in accepting.pi:"),
    Mutant("B delivers what is in B-pi", "Prc._receive_buffered", "if relayed.id not in accepting.alpha and relayed.id not in accepting.pi:", "if relayed.id not in accepting.alpha:"),
    Mutant("B takes B-beta before pi", "Prc._receive_buffered", "if accepting is None or accepting.e != frame.e or not accepting.got_pi:", "if accepting is None or accepting.e != frame.e:"),
    Mutant("B-beta has no incarnation", "Prc._receive_buffered", "if accepting is None or accepting.e != frame.e or not accepting.got_pi:", "if accepting is None or not accepting.got_pi:"),
    Mutant("A does not use the link that it opened", "Prc._receive_rho", "        self.links.out[peer] = int(opening.e)\n        out.append(Transmit(peer, Buffered", "        out.append(Transmit(peer, Buffered"),
    Mutant("A uses the link before B-beta", "Prc._start_link", "        self.opening[peer] = Opening(e, route, FIRST_TIMEOUT)\n", "        self.opening[peer] = Opening(e, route, FIRST_TIMEOUT)\n        self.links.out[peer] = int(e)\n"),
    Mutant("A does not report that the link is safe", "Prc._receive_rho", "        out.append(Safe(peer))\n", ""),
    Mutant("alpha restarts a link that is being opened", "Prc._receive_alpha", "if sender in self.accepting or sender in self.links.incoming:", "if sender in self.links.incoming:"),
    Mutant("alpha restarts a link that is in use", "Prc._receive_alpha", "if sender in self.accepting or sender in self.links.incoming:", "if sender in self.accepting:"),
    Mutant("floods are not delivered", "Prc._deliver", "        if self.opening or self.accepting:\n", "        if isinstance(frame, Broadcast) and (self.opening or self.accepting):\n"),
    Mutant("floods reach no recipient", "Prc._deliver", "        elif isinstance(frame, Flood) and frame.control.target() == self.process:\n", "        elif False:\n"),
    Mutant("a broken route is not repaired", "OverlayCore._send_control", "        if path and path[0] in self.links.out:\n", "        if path:\n"),
    Mutant("routes are not used", "OverlayCore._send_control", "        if path and path[0] in self.links.out:\n", "        if False:\n"),
    # links that are not made
    Mutant("a new attempt reuses the old incarnation", "Prc._tick", "e = self.links.next_incarnation()", "e = self.links.opened"),
    Mutant("a time-out does not close the link", "Prc._tick", "                    out.append(Transmit(peer, Close(opening.e)))\n                    timeout", "                    timeout"),
    Mutant("a new attempt times out as early as the first", "Prc._tick", "                    timeout = min(2 * timeout, MAX_TIMEOUT)\n", ""),
    Mutant("a time-out happens one tick early", "Prc._tick", "opening.age > opening.timeout:", "opening.age >= opening.timeout:"),
    Mutant("a refusal of another incarnation counts", "Prc._receive_refusal", "if opening is not None and opening.e == e:", "if opening is not None:"),
    Mutant("a refusal keeps the buffer", "Prc._retry_later", "        opening.phase = REFUSED\n        opening.buffer = []\n", "        opening.phase = REFUSED\n"),
    Mutant("a refusal is not remembered", "Prc._retry_later", "        opening.phase = REFUSED\n", ""),
    Mutant("a close of another incarnation counts", "Prc._receive_close", "if accepting is not None and accepting.e == e:", "if accepting is not None:"),
    Mutant("a close of another incarnation closes a link in use", "OverlayCore._receive_close", "if self.links.incoming.get(sender, -1) == e:", "if sender in self.links.incoming:"),
    Mutant("a close is not announced", "OverlayCore.close", "        self._announce_close(name, e, out)\n", ""),
    Mutant("A's buffer is unbounded", "Prc._record_delivery", "if len(opening.buffer) > self.max_buffered:", "if False:"),
    Mutant("A's buffer overflows silently", "Prc._record_delivery", "                    out.append(Transmit(peer, Close(opening.e)))\n                    self._retry_later", "                    self._retry_later"),
    Mutant("B's buffer is unbounded", "Prc._record_delivery", "if not accepting.got_pi and len(accepting.alpha) > self.max_buffered:", "if False:"),
    Mutant("B gives up after rho", "Prc._record_delivery", "if not accepting.got_pi and len(accepting.alpha) > self.max_buffered:", "if len(accepting.alpha) + len(accepting.pi) > self.max_buffered:"),
    Mutant("B gives up silently", "Prc._record_delivery", "                out.append(Transmit(peer, Refuse(accepting.e)))\n                del", "                del"),
    Mutant("B answers before it is a member", "Prc._receive_alpha", "        if self.stage != MEMBER:", "        if False:"),
    Mutant("links being opened to a departed peer remain", "Prc._abandon_pending", "        super()._abandon_pending(peer)\n        self.accepting.pop(peer, None)\n", "        pass\n"),
    # joining, leaving, dropping
    Mutant("a newcomer gets nothing", "OverlayCore._receive_join", "            links.out[sender] = int(incarnation)\n", ""),
    Mutant("a newcomer is not expected to forward", "OverlayCore._receive_join", "            links.incoming[sender] = int(e)\n", ""),
    Mutant("a newcomer is admitted by a process that is still joining", "OverlayCore._receive_join", "        elif self.stage == JOINING:\n            out.append(Transmit(sender, Refuse(e)))\n", ""),
    Mutant("a newcomer is admitted silently", "OverlayCore._receive_join", "            out.append(Admit(sender))\n", ""),
    Mutant("a refused newcomer does not ask again", "OverlayCore._tick", "        if self.contact and not self.requested:\n            self._request_admission(out)\n", "        pass\n"),
    Mutant("a newcomer sends at once", "OverlayCore._broadcast", "            if self.stage == JOINING:\n                self.unsent", "            if False:\n                self.unsent"),
    Mutant("a newcomer's queued messages are lost", "OverlayCore._receive_welcome", "        for message in unsent:\n", "        for message in unsent[:0]:\n"),
    Mutant("a newcomer's queued messages are reversed", "OverlayCore._receive_welcome", "        for message in unsent:\n", "        for message in unsent[::-1]:\n"),
    Mutant("a newcomer that has lost its contact sends at once", "OverlayCore._remove_peer", "        if self.contact == peer:\n            self.contact = \"\"\n", "        if self.contact == peer:\n            self.stage = NEW\n            self.contact = \"\"\n"),
    Mutant("a former member may join", "OverlayCore.join", "        if self.stage == MEMBER:\n            raise", "        if self.links.out:\n            raise"),
    Mutant("opening a link to a newcomer is not cancelled", "OverlayCore._receive_join", "            self._abandon_pending(sender)\n            self.stage", "            self.stage"),
    Mutant("a leave is not announced", "OverlayCore.leave", "            out.append(Transmit(peer, Leave()))\n            self._forget_links(peer)\n", "            self._forget_links(peer)\n"),
    Mutant("a leave is ignored", "OverlayCore._receive", "        elif isinstance(frame, Leave):\n            self._remove_peer(sender)\n", "        elif isinstance(frame, Leave):\n            pass\n"),
    Mutant("a drop is not announced", "OverlayCore._apply_drop", "            out.append(Transmit(peer, Leave()))  # if", "            pass  # if"),
    Mutant("frames still go to a dropped peer", "OverlayCore._forget_links", "        self.links.out.pop(peer, None)\n", ""),
    Mutant("a dropped peer is waited for", "OverlayCore._forget_links", "        if self.links.incoming.pop(peer, -1) >= 0:\n            self._incoming_removed(peer)\n", "        self.links.incoming.pop(peer, -1)\n"),
    Mutant("frames from a dropped peer are accepted", "OverlayCore._receive", "        elif self.links.left or sender in self.links.departed_names:\n", "        elif self.links.left:\n"),
    # what no correct peer could send, and what callers may not say
    Mutant("own messages that were never sent are accepted", "OverlayCore._check_relayed", "if frame.number < 1 or (frame.source == self.process and frame.number > mine):", "if frame.number < 1:"),
    Mutant("message 0 is accepted", "OverlayCore._check_relayed", "if frame.number < 1 or (frame.source == self.process and frame.number > mine):", "if frame.source == self.process and frame.number > mine:"),
    Mutant("control of any kind is accepted", "check_control", "if control.e < 1 or not handled:", "if control.e < 1:"),
    Mutant("control about link 0 is accepted", "check_control", "if control.e < 1 or not handled:", "if not handled:"),
    Mutant("control about a self-link is accepted", "check_control", "    if control.opener == control.acceptor:\n", "    if False:\n"),
    Mutant("control may end anywhere", "check_routed", "    if frame.control.target() != end:\n", "    if False:\n"),
    Mutant("routes may contain cycles", "check_route", "if process in path or len(set(path)) < len(path):", "if False:"),
    Mutant("alpha may lead elsewhere", "check_alpha", "if frame.e < 1 or (frame.back and frame.back[-1] != sender):", "if frame.e < 1:"),
    Mutant("B-beta may contain a message twice", "check_buffered", "if len({relayed.id for relayed in frame.frames}) < len(frame.frames):", "if False:"),
    Mutant("a mediator may be anybody", "LinkTable.check_routes", "        if there and there[0] not in self.out:\n", "        if False:\n"),
    Mutant("a way back may lead through its start", "LinkTable.check_routes", "        if peer in answer:\n", "        if False:\n"),
    Mutant("links to strangers are allowed", "LinkTable.check_peer", "if self.members is not None and name not in self.members.index:", "if False:"),
    Mutant("links to dropped peers are allowed", "LinkTable.check_peer", "        if name in self.departed_names:\n            raise", "        if False:\n            raise"),
    Mutant("calls after leaving are allowed", "LinkTable.check_present", "        if self.left:\n            raise", "        if False:\n            raise"),
    Mutant("opening links while joining is allowed", "OverlayCore.open", "        if self.stage == JOINING:\n            raise", "        if False:\n            raise"),
    # preventive
    Mutant("preventive: copies count as new", "Preventive._receive_relayed", "        if frame.number <= self._newest(frame):\n            return\n", ""),
    Mutant("preventive: deliveries are not counted", "Preventive._receive_relayed", "        versions[frame.source] = int(frame.number)\n", ""),
    Mutant("preventive: nothing is forwarded", "Preventive._receive_relayed", "        self._forward(frame, out)\n", ""),
    Mutant("preventive: nothing is buffered", "Preventive._keep", "        pinging.buffer.append(frame)\n", ""),
    Mutant("preventive: the buffer is not sent", "Preventive._receive_signal", "        for relayed in pinging.buffer:\n", "        for relayed in ():\n"),
    Mutant("preventive: the buffer is sent in reverse", "Preventive._receive_signal", "        for relayed in pinging.buffer:\n", "        for relayed in pinging.buffer[::-1]:\n"),
    Mutant("preventive: the link is used before the pong", "Preventive._ping", "        self.opening[peer] = Opening(e, route, timeout)\n", "        self.opening[peer] = Opening(e, route, timeout)\n        self.links.out[peer] = int(e)\n"),
    Mutant("preventive: the link is not used after the pong", "Preventive._receive_signal", "        self.links.out[sender] = int(pinging.e)\n", ""),
    Mutant("preventive: no pong is sent", "Preventive._receive_control", "            out.append(Transmit(control.opener, Pong(control.e)))\n", "            pass\n"),
    Mutant("preventive: an unanswered ping never times out", "Preventive._tick", "            if pinging.age > pinging.timeout:\n", "            if False:\n"),
    Mutant("preventive: a new ping reuses the old incarnation", "Preventive._tick", "e = self.links.next_incarnation()", "e = self.links.opened"),
    Mutant("preventive: a new ping times out as early as the first", "Preventive._tick", "min(2 * pinging.timeout, MAX_TIMEOUT)", "pinging.timeout"),
    Mutant("preventive: the buffer is unbounded", "Preventive._keep", "if len(pinging.buffer) > self.max_buffered:", "if False:"),
    Mutant("preventive: a pong for an overflowed buffer is accepted", "Preventive._keep", "            pinging.e = 0\n            pinging.age", "            pinging.age"),
    Mutant("preventive: a newcomer knows nothing", "Preventive._adopt_versions", "                self.versions[source] = newest\n", "                pass\n"),
    Mutant("preventive: a newcomer knows no floods", "Preventive._adopt_versions", "                self.floods[source] = -newest\n", "                pass\n"),
    Mutant("preventive: gaps are accepted", "Preventive._check_relayed", "if frame.number > newest + 1 and self._accepts_from(sender):", "if False:"),
    Mutant("preventive: a newcomer accepts messages before it is admitted", "Preventive._accepts_from", "self.stage == MEMBER and not self.links.left", "not self.links.left"),
    Mutant("preventive: frames from a dropped peer are accepted", "Preventive._accepts_from", " and not self.links.left and sender not in self.links.departed_names", " and not self.links.left"),
    Mutant("preventive: delivering before forwarding", "Preventive._receive_relayed", "        self._forward(frame, out)\n        for pinging in self.opening.values():\n            self._keep(pinging, frame)\n        if isinstance(frame, Broadcast):\n            out.append(Deliver(frame.source, frame.number, frame.payload))\n", "        if isinstance(frame, Broadcast):\n            out.append(Deliver(frame.source, frame.number, frame.payload))\n        self._forward(frame, out)\n        for pinging in self.opening.values():\n            self._keep(pinging, frame)\n        if isinstance(frame, Broadcast):\n            pass\n"),
]  # fmt: skip

MUTANTS = [*SLIPS, *CONDITIONS]
