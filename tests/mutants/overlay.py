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
FROM_ANYWHERE = ("Overlay._accepts", "return sender in self.incoming", "return True")
ROUTED = "from beforehand.protocols.overlay.frames import Routed\n        "
GONE_ARE_HEARD = (
    "Overlay._receive",
    "elif self.left or sender in self.gone_names:",
    "elif self.left:",
)
BUFFERED = """        del self.accepting[sender]
        self.incoming[sender] = int(frame.e)
        for relayed in accepting.pi.difference([each.id for each in frame.frames]):
            self.awaited.setdefault(relayed, set()).add(sender)
        for each in frame.frames:
            if each.id not in accepting.alpha and each.id not in accepting.pi:
                self._first(each, sender, now, out)
"""
BUFFERED_AS_PRINTED = """        del self.accepting[sender]
        for each in frame.frames:
            if each.id not in accepting.alpha and each.id not in accepting.pi:
                self._first(each, "", now, out)
        self.incoming[sender] = int(frame.e)
        for relayed in accepting.pi.difference([each.id for each in frame.frames]):
            self.awaited.setdefault(relayed, set()).add(sender)
"""

SLIPS = [
    Mutant("Qi gains the link after B-beta was used", "Prc._receive_buffered", BUFFERED, BUFFERED_AS_PRINTED),
    Mutant("B-beta is a set", "Prc._receive_rho", "tuple(opening.buffer))))\n", "tuple(opening.buffer[::-1]))))\n"),
    Mutant("B-beta has no payloads", "Prc._receive_buffered", "        for each in frame.frames:\n            if", "        for each in frame.frames[:0]:\n            if"),
    Mutant("data count on any link", "LinkMemory._first", "if sender and sender not in self.incoming:", "if False:"),
    Mutant("control counts on any link", "Overlay._receive", "if not self._accepts(sender):", "if False:", (GONE_ARE_HEARD,)),
    Mutant("a safe link is opened again", "Overlay.open", "if name not in self.out and not self._is_opening(name):", "if not self._is_opening(name):"),
    Mutant("beta has no incarnation", "Prc._receive_beta", "if opening is None or opening.e != control.e or opening.phase != ASKED:", "if opening is None or opening.phase != ASKED:", (("Prc._receive_beta", "pi = Control(PI, self.process, control.acceptor, control.e)", "pi = Control(PI, self.process, control.acceptor, opening.e)"),)),
    Mutant("pi has no incarnation", "Prc._receive_pi", "if accepting is None or accepting.e != control.e or accepting.got_pi:", "if accepting is None or accepting.got_pi:", (("Prc._receive_pi", "rho = Control(RHO, control.opener, self.process, control.e)", "rho = Control(RHO, control.opener, self.process, accepting.e)"),)),
    Mutant("rho has no incarnation", "Prc._receive_rho", "if opening is None or opening.e != control.e or opening.phase != RECORDING:", "if opening is None or opening.phase != RECORDING:"),
    Mutant("beta is taken though no link is being made", "Prc._receive_beta", "if opening is None or opening.e != control.e or opening.phase != ASKED:", "if opening.e != control.e or opening.phase != ASKED:"),
    Mutant("pi is taken though no link is being made", "Prc._receive_pi", "if accepting is None or accepting.e != control.e or accepting.got_pi:", "if accepting.e != control.e or accepting.got_pi:"),
    Mutant("rho is taken though no link is being made", "Prc._receive_rho", "if opening is None or opening.e != control.e or opening.phase != RECORDING:", "if opening.e != control.e or opening.phase != RECORDING:"),
    Mutant("beta is sent directly", "Prc._receive_alpha", "self._direct(frame.back, Control(BETA, sender, self.process, frame.e), out)", ROUTED + "out.append(Transmit(sender, Routed((), Control(BETA, sender, self.process, frame.e))))", (FROM_ANYWHERE,)),
    Mutant("pi is sent directly", "Prc._receive_beta", "self._direct(opening.there, pi, out)", ROUTED + "out.append(Transmit(control.acceptor, Routed((), pi)))", (FROM_ANYWHERE,)),
    Mutant("rho is sent directly", "Prc._receive_pi", "self._direct(accepting.back, rho, out)", ROUTED + "out.append(Transmit(control.opener, Routed((), rho)))", (FROM_ANYWHERE,)),
    Mutant("close leaves Qi alone", "Overlay._receive_close", "            del self.incoming[sender]\n            self._forget_incoming(sender)\n        elif", "            self._forget_incoming(sender)\n        elif"),
    Mutant("close leaves Qo alone", "Overlay.close", "e = self.out.pop(name, -1)", "e = self.out.get(name, -1)"),
    Mutant("close leaves E alone", "Overlay._receive_close", "            del self.incoming[sender]\n            self._forget_incoming(sender)\n        elif", "            del self.incoming[sender]\n        elif"),
    Mutant("no time-out for a mediator that crashes", "Prc._tick", "if opening.phase == REFUSED or opening.age > opening.patience:", "if opening.phase == REFUSED:"),
    Mutant("joining through two contacts at once", "Overlay.join", "        if self.contact:\n            raise LocalProtocolError(\n                f\"{self.process}: is joining through", "        if False:\n            raise LocalProtocolError(\n                f\"{self.process}: is joining through", (("Overlay._receive_welcome", "if sender != self.contact or not self.asked:", "if False:"),)),
    Mutant("delivering before forwarding", "LinkMemory._first", "        self._pass_on(frame, out)\n        self._deliver(frame, out)\n", "        self._deliver(frame, out)\n        self._pass_on(frame, out)\n"),
    Mutant("preventive: a pong has no incarnation", "Preventive._signal", "if pinging is None or not isinstance(frame, Pong) or pinging.e != frame.e:", "if pinging is None or not isinstance(frame, Pong):"),
    Mutant("preventive: the ping is sent directly", "Preventive._ping", "self._direct(there, Control(PING, self.process, peer, e), out)", ROUTED + "out.append(Transmit(peer, Routed((), Control(PING, self.process, peer, e))))"),
]  # fmt: skip

CONDITIONS = [
    # control in its turn
    Mutant("beta is taken in any phase", "Prc._receive_beta", "if opening is None or opening.e != control.e or opening.phase != ASKED:", "if opening is None or opening.e != control.e:"),
    Mutant("pi is taken in any phase", "Prc._receive_pi", "if accepting is None or accepting.e != control.e or accepting.got_pi:", "if accepting is None or accepting.e != control.e:"),
    Mutant("rho is taken in any phase", "Prc._receive_rho", "if opening is None or opening.e != control.e or opening.phase != RECORDING:", "if opening is None or opening.e != control.e:"),
    Mutant("control counts on links that are not in use", "Overlay._receive", "if not self._accepts(sender):", "if False:"),
    # passing on, and the memory of links
    Mutant("nothing is expected again", "LinkMemory._first", "        if links:\n            self.awaited[frame.id] = links\n", ""),
    Mutant("what has come is expected again", "LinkMemory._first", "        links.discard(sender)\n        if links:\n", "        if links:\n"),
    Mutant("an expected copy is news", "LinkMemory._first", "        if links is not None:\n            links.discard(sender)", "        if links is None:\n            links.discard(sender)"),
    Mutant("copies are never ticked off", "LinkMemory._first", "            links.discard(sender)\n            if not links:\n                del self.awaited[frame.id]\n            return\n", "            return\n"),
    Mutant("one copy ticks off all", "LinkMemory._first", "            if not links:\n                del self.awaited[frame.id]\n            return\n", "            del self.awaited[frame.id]\n            return\n"),
    Mutant("a link that goes is still expected to bring messages", "LinkMemory._forget_incoming", "        for relayed in self.expected(peer):\n", "        for relayed in ():\n"),
    Mutant("a link that goes takes all memory with it", "LinkMemory._forget_incoming", "            links = self.awaited[relayed]\n            links.discard(peer)\n            if not links:\n                del", "            links = self.awaited[relayed]\n            if links:\n                del"),
    Mutant("nothing is passed on", "LinkMemory._first", "        self._pass_on(frame, out)\n", ""),
    # the handshake
    Mutant("A keeps nothing", "Prc._note", "                opening.buffer.append(frame)\n", ""),
    Mutant("A keeps from alpha on", "Prc._note", "            if opening.phase == RECORDING:\n                opening", "            if True:\n                opening"),
    Mutant("all that B delivers is B-alpha", "Prc._note", "noted = accepting.pi if accepting.got_pi else accepting.alpha", "noted = accepting.alpha"),
    Mutant("all that B delivers is B-pi", "Prc._note", "noted = accepting.pi if accepting.got_pi else accepting.alpha", "noted = accepting.pi"),
    Mutant("B notes nothing", "Prc._note", "            noted.add(frame.id)\n", ""),
    Mutant("B expects nothing over the new link", "Prc._receive_buffered", "            self.awaited.setdefault(relayed, set()).add(sender)\n", "            pass\n"),
    Mutant("B expects all of B-pi", "Prc._receive_buffered", "accepting.pi.difference([each.id for each in frame.frames])", "accepting.pi.difference([])"),
    Mutant("B delivers what is in B-alpha", "Prc._receive_buffered", "if each.id not in accepting.alpha and each.id not in accepting.pi:", "if each.id not in accepting.pi:"),
    Mutant("B delivers what is in B-pi", "Prc._receive_buffered", "if each.id not in accepting.alpha and each.id not in accepting.pi:", "if each.id not in accepting.alpha:"),
    Mutant("B takes B-beta before pi", "Prc._receive_buffered", "if accepting is None or accepting.e != frame.e or not accepting.got_pi:", "if accepting is None or accepting.e != frame.e:"),
    Mutant("B-beta has no incarnation", "Prc._receive_buffered", "if accepting is None or accepting.e != frame.e or not accepting.got_pi:", "if accepting is None or not accepting.got_pi:"),
    Mutant("A does not use the link that it made", "Prc._receive_rho", "        self.out[peer] = int(opening.e)\n        out.append(Transmit(peer, Buffered", "        out.append(Transmit(peer, Buffered"),
    Mutant("A uses the link before B-beta", "Prc._open", "        self.opening[peer] = Opening(e, there, PATIENCE)\n", "        self.opening[peer] = Opening(e, there, PATIENCE)\n        self.out[peer] = int(e)\n"),
    Mutant("A does not say that the link is safe", "Prc._receive_rho", "        out.append(Safe(peer))\n", ""),
    Mutant("alpha starts a link anew that is being made", "Prc._receive_alpha", "if sender in self.accepting or sender in self.incoming:", "if sender in self.incoming:"),
    Mutant("alpha starts a link anew that is in use", "Prc._receive_alpha", "if sender in self.accepting or sender in self.incoming:", "if sender in self.accepting:"),
    Mutant("floods are not noted", "Prc._deliver", "        if self.opening or self.accepting:\n", "        if isinstance(frame, Broadcast) and (self.opening or self.accepting):\n"),
    Mutant("floods are for nobody", "Prc._deliver", "        elif isinstance(frame, Flood) and frame.control.target() == self.process:\n", "        elif False:\n"),
    Mutant("a broken route is not mended", "Overlay._direct", "        if path and path[0] in self.out:\n", "        if path:\n"),
    Mutant("routes are not used", "Overlay._direct", "        if path and path[0] in self.out:\n", "        if False:\n"),
    # links that are not made
    Mutant("a new attempt has the old incarnation", "Prc._tick", "                self.opened += 1\n", ""),
    Mutant("a time-out does not close", "Prc._tick", "                    out.append(Transmit(peer, Close(opening.e)))\n                    patience", "                    patience"),
    Mutant("a new attempt is as impatient as the first", "Prc._tick", "                    patience = min(2 * patience, MOST_PATIENCE)\n", ""),
    Mutant("a time-out happens one tick early", "Prc._tick", "opening.age > opening.patience:", "opening.age >= opening.patience:"),
    Mutant("a refusal of another incarnation counts", "Prc._refused", "        if opening is None or opening.e != e:\n", "        if opening is None:\n"),
    Mutant("a refusal keeps the buffer", "Prc._retry_later", "        opening.phase = REFUSED\n        opening.buffer = []\n", "        opening.phase = REFUSED\n"),
    Mutant("a refusal is not remembered", "Prc._retry_later", "        opening.phase = REFUSED\n", ""),
    Mutant("a close of another incarnation counts", "Prc._closed", "        if accepting is None or accepting.e != e:\n", "        if accepting is None:\n"),
    Mutant("a close of another incarnation closes what is in use", "Overlay._receive_close", "if self.incoming.get(sender, -1) == e:", "if sender in self.incoming:"),
    Mutant("a close is not told", "Overlay.close", "        self._tell_closed(name, e, out)\n", ""),
    Mutant("A's buffer has no end", "Prc._note", "if len(opening.buffer) > self.most_buffered:", "if False:"),
    Mutant("A's buffer overflows silently", "Prc._note", "                    out.append(Transmit(peer, Close(opening.e)))\n                    self._retry_later", "                    self._retry_later"),
    Mutant("B's buffer has no end", "Prc._note", "if not accepting.got_pi and len(accepting.alpha) > self.most_buffered:", "if False:"),
    Mutant("B gives up after rho", "Prc._note", "if not accepting.got_pi and len(accepting.alpha) > self.most_buffered:", "if len(accepting.alpha) + len(accepting.pi) > self.most_buffered:"),
    Mutant("B gives up silently", "Prc._note", "                out.append(Transmit(peer, Refuse(accepting.e)))\n                del", "                del"),
    Mutant("B answers before it takes part", "Prc._receive_alpha", "        if self.stage != TAKING_PART:  # no way", "        if False:  # no way"),
    Mutant("a peer that is gone leaves its links in the making", "Prc._forget_making", "        self.opening.pop(peer, None)\n        self.accepting.pop(peer, None)\n", "        pass\n"),
    # joining, leaving, dropping
    Mutant("a newcomer gets nothing", "Overlay._receive_join", "            self.out[sender] = int(self.opened)\n", ""),
    Mutant("a newcomer is not expected to pass on", "Overlay._receive_join", "            self.incoming[sender] = int(e)\n", ""),
    Mutant("a newcomer is let in by who is joining", "Overlay._receive_join", "        elif self.stage == JOINING:\n            out.append(Transmit(sender, Refuse(e)))\n", ""),
    Mutant("a newcomer is let in silently", "Overlay._receive_join", "            out.append(Admit(sender))\n", ""),
    Mutant("a refused newcomer does not ask again", "Overlay._tick", "        if self.contact and not self.asked:\n            self._ask(out)\n", "        pass\n"),
    Mutant("a newcomer sends at once", "Overlay._broadcast", "            if self.stage == JOINING:\n                self.unsent", "            if False:\n                self.unsent"),
    Mutant("what a newcomer sent is lost", "Overlay._receive_welcome", "        for each in unsent:\n", "        for each in unsent[:0]:\n"),
    Mutant("what a newcomer sent is turned round", "Overlay._receive_welcome", "        for each in unsent:\n", "        for each in unsent[::-1]:\n"),
    Mutant("who has lost its contact sends at once", "Overlay._let_go", "        if self.contact == peer:\n            self.contact = \"\"\n", "        if self.contact == peer:\n            self.stage = FRESH\n            self.contact = \"\"\n"),
    Mutant("who has taken part may join", "Overlay.join", "        if self.stage == TAKING_PART:\n            raise", "        if self.out:\n            raise"),
    Mutant("a link to a newcomer goes on being made", "Overlay._receive_join", "            self._forget_making(sender)\n            self.stage", "            self.stage"),
    Mutant("a leave is not told", "Overlay.leave", "            out.append(Transmit(peer, Leave()))\n            self._forget(peer)\n", "            self._forget(peer)\n"),
    Mutant("a leave is not heard", "Overlay._receive", "        elif isinstance(frame, Leave):\n            self._let_go(sender)\n", "        elif isinstance(frame, Leave):\n            pass\n"),
    Mutant("a drop is not told", "Overlay._apply_drop", "            out.append(Transmit(peer, Leave()))  # if", "            pass  # if"),
    Mutant("a dropped peer is sent to", "Overlay._forget", "        self.out.pop(peer, None)\n", ""),
    Mutant("a dropped peer is waited for", "Overlay._forget", "        if self.incoming.pop(peer, -1) >= 0:\n            self._forget_incoming(peer)\n", "        self.incoming.pop(peer, -1)\n"),
    Mutant("a dropped peer is heard", "Overlay._receive", "        elif self.left or sender in self.gone_names:\n", "        elif self.left:\n"),
    # what no correct peer could send, and what callers may not say
    Mutant("messages of ours that never were are believed", "OverlayLinks._check_relayed", "if frame.number < 1 or (frame.source == self.process and frame.number > mine):", "if frame.number < 1:"),
    Mutant("message 0 is believed", "OverlayLinks._check_relayed", "if frame.number < 1 or (frame.source == self.process and frame.number > mine):", "if frame.source == self.process and frame.number > mine:"),
    Mutant("control of any kind is believed", "OverlayLinks._check_control", "if control.e < 1 or not self._takes(control.kind):", "if control.e < 1:"),
    Mutant("control about link 0 is believed", "OverlayLinks._check_control", "if control.e < 1 or not self._takes(control.kind):", "if not self._takes(control.kind):"),
    Mutant("control about a link to oneself is believed", "OverlayLinks._check_control", "        if control.opener == control.acceptor:\n", "        if False:\n"),
    Mutant("control may end anywhere", "OverlayLinks._check", "            if frame.control.target() != end:\n", "            if False:\n"),
    Mutant("routes may come back", "OverlayLinks._check_route", "        if self.process in path or len(set(path)) < len(path):\n            raise RemoteProtocolError", "        if False:\n            raise RemoteProtocolError"),
    Mutant("alpha may lead elsewhere", "OverlayLinks._check", "if frame.e < 1 or (frame.back and frame.back[-1] != sender):", "if frame.e < 1:"),
    Mutant("a message may be twice in B-beta", "OverlayLinks._check", "                if len({each.id for each in frame.frames}) < len(frame.frames):\n", "                if False:\n"),
    Mutant("a mediator may be anybody", "Overlay.open", "        if there and there[0] not in self.out:\n", "        if False:\n"),
    Mutant("a way back may lead through its start", "Overlay.open", "        if name in answer:\n", "        if False:\n"),
    Mutant("strangers may be linked to", "OverlayLinks._peer", "if self.members is not None and name not in self.members.places:", "if False:"),
    Mutant("dropped peers may be linked to", "OverlayLinks._peer", "        if name in self.gone_names:\n            raise", "        if False:\n            raise"),
    Mutant("one may go on after leaving", "OverlayLinks._check_present", "        if self.left:\n            raise", "        if False:\n            raise"),
    Mutant("one may open links while joining", "Overlay.open", "        if self.stage == JOINING:\n            raise", "        if False:\n            raise"),
    # preventive
    Mutant("preventive: copies are news", "Preventive._first", "        if frame.number <= self._newest(frame):\n            return\n", ""),
    Mutant("preventive: deliveries are not counted", "Preventive._first", "        versions[frame.source] = int(frame.number)\n", ""),
    Mutant("preventive: nothing is passed on", "Preventive._first", "        self._pass_on(frame, out)\n", ""),
    Mutant("preventive: nothing is kept", "Preventive._keep", "        pinging.buffer.append(frame)\n", ""),
    Mutant("preventive: what was kept is not sent", "Preventive._signal", "        for each in pinging.buffer:\n", "        for each in ():\n"),
    Mutant("preventive: what was kept is turned round", "Preventive._signal", "        for each in pinging.buffer:\n", "        for each in pinging.buffer[::-1]:\n"),
    Mutant("preventive: the link is used before the pong", "Preventive._ping", "        self.pinging[peer] = Pinging(e, there, patience)\n", "        self.pinging[peer] = Pinging(e, there, patience)\n        self.out[peer] = int(e)\n"),
    Mutant("preventive: the link is not used after the pong", "Preventive._signal", "        self.out[sender] = int(pinging.e)\n", ""),
    Mutant("preventive: no pong", "Preventive._steer", "            out.append(Transmit(control.opener, Pong(control.e)))\n", "            pass\n"),
    Mutant("preventive: no time-out", "Preventive._tick", "            if pinging.age > pinging.patience:\n", "            if False:\n"),
    Mutant("preventive: a new ping has the old incarnation", "Preventive._tick", "                self.opened += 1\n", ""),
    Mutant("preventive: as impatient as at first", "Preventive._tick", "min(2 * pinging.patience, MOST_PATIENCE)", "pinging.patience"),
    Mutant("preventive: the buffer has no end", "Preventive._keep", "if len(pinging.buffer) > self.most_buffered:", "if False:"),
    Mutant("preventive: a pong for a buffer that overflowed", "Preventive._keep", "            pinging.e = 0\n            pinging.age", "            pinging.age"),
    Mutant("preventive: a newcomer knows nothing", "Preventive._inherit", "                self.versions[source] = newest\n", "                pass\n"),
    Mutant("preventive: a newcomer knows no floods", "Preventive._inherit", "                self.floods[source] = -newest\n", "                pass\n"),
    Mutant("preventive: gaps are believed", "Preventive._check_relayed", "if frame.number > newest + 1 and self._accepts(sender):", "if False:"),
    Mutant("preventive: a newcomer listens before it is let in", "Preventive._accepts", "return self.stage == TAKING_PART and not self.left", "return not self.left"),
    Mutant("preventive: a dropped peer is heard", "Preventive._accepts", " and not self.left and sender not in self.gone_names", " and not self.left"),
    Mutant("preventive: delivering before forwarding", "Preventive._first", "        self._pass_on(frame, out)\n        for pinging in self.pinging.values():\n            self._keep(pinging, frame)\n        if isinstance(frame, Broadcast):\n            out.append(Deliver(frame.source, frame.number, frame.payload))\n", "        if isinstance(frame, Broadcast):\n            out.append(Deliver(frame.source, frame.number, frame.payload))\n        self._pass_on(frame, out)\n        for pinging in self.pinging.values():\n            self._keep(pinging, frame)\n        if isinstance(frame, Broadcast):\n            pass\n"),
]  # fmt: skip

MUTANTS = [*SLIPS, *CONDITIONS]
