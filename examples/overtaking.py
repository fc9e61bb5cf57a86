"""An answer that overtakes its question: what goes wrong without causal delivery, and right with it.

Alice asks Carol and Bob; her message to Carol is slow. Bob answers Carol at once. The cores are
driven by hand here: frames arrive when the script delivers them.

    python examples/overtaking.py
"""

from __future__ import annotations

from beforehand import protocols
from beforehand.causality import MessageId, Oracle

NAMES = ("alice", "bob", "carol")


class Exchange:
    """Three processes, the frames in flight, and an oracle that checks the deliveries."""

    def __init__(self, protocol: str) -> None:
        self.cores = {name: protocols.create(protocol, name) for name in NAMES}
        self.in_flight: list[tuple[str, protocols.Transmit]] = []
        self.oracle = Oracle()

    def send(self, sender: str, to: str, text: str) -> None:
        """A causal-send: it may leave at once or be held."""
        effects = self.cores[sender].send(to, text.encode())
        self.oracle.send(sender, [to])
        print(f"  {sender} sends {to}: {text!r}")
        self.carry_out(sender, effects)
        for held in self.cores[sender].held():
            waits = ", ".join(f"a {wait.kind} from {wait.peer}" for wait in held.waits)
            print(f"    held at {sender}, waiting for {waits}")

    def carry(self, slow: tuple[str, str] | None = None) -> None:
        """Let everything arrive, in order, except what is on the slow link."""
        while waiting := [(s, t) for s, t in self.in_flight if (s, t.to) != slow]:
            sender, transmit = waiting[0]
            self.in_flight.remove((sender, transmit))
            self.carry_out(transmit.to, self.cores[transmit.to].receive(sender, transmit.frame))

    def carry_out(self, process: str, effects: list[protocols.Effect]) -> None:
        """Carry out the effects of a core."""
        for effect in effects:
            if isinstance(effect, protocols.Transmit):
                self.in_flight.append((process, effect))
            elif isinstance(effect, protocols.Deliver):
                print(f"  {process} gets from {effect.sender}: {effect.payload.decode()!r}")
                for violation in self.oracle.deliver(
                    process, MessageId(effect.sender, effect.message_id)
                ):
                    print(f"    VIOLATION: {violation.sentence}")


def play(protocol: str) -> int:
    """Run the exchange; returns the number of violations."""
    print(f"{protocol}: {protocols.describe(protocol).title}")
    exchange = Exchange(protocol)
    slow = ("alice", "carol")
    exchange.send("alice", "carol", "Has anyone seen my keys?")
    exchange.send("alice", "bob", "Has anyone seen my keys? I asked Carol too.")
    exchange.carry(slow)
    exchange.send("bob", "carol", "They are in the fridge.")
    exchange.carry(slow)
    print("  ... the slow link catches up ...")
    exchange.carry()
    print(
        f"  {len(exchange.oracle.violations)} violations, {len(exchange.oracle.undelivered())} lost\n"
    )
    return len(exchange.oracle.violations)


if __name__ == "__main__":
    without, with_ = play("raw"), play("hybrid-sps")
    assert without and not with_
