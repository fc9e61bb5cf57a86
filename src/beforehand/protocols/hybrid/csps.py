"""`hybrid`: hybrid buffering that enforces CSPS (Almeida, Algorithms 1 and 3, corrected).

CSPS, the conservative form of sender permission to send (definition 4.3): a message is released when
*all* messages that happened before it, sent by any process that its sender has heard from, have been
delivered. Then one comparison decides each question:

- release in causal-send order, while the oldest waiting run depends on no missing permit;
- permits reach everything before the oldest open run, and that run too as far as only acks of the
  receiver itself are missing.

Corrections to the printed algorithms: ids start at 1 (0 means "none"); a
permit that overtakes its message is remembered; multicast keeps one predecessor id per receiver; a
permit is due when at most the receiver's own ack is missing; acks are validated. A run counts as one
message, which is a little better than CSPS and still SPS: its own older members go to the same
receiver.
"""

from __future__ import annotations

from beforehand.protocols.effects import Effect
from beforehand.protocols.hybrid.core import HybridCore
from beforehand.protocols.hybrid.records import MessageRun


class Hybrid(HybridCore):
    """One process of the CSPS variant."""

    def _reaches(self, run: MessageRun) -> bool:
        return run.continues

    def _release_due(self, out: list[Effect]) -> None:
        while self.first_unsent < self.runs.next:
            if self.first_unsent < self.runs.first:
                self.first_unsent = self.runs.first
                continue
            run = self.runs[self.first_unsent]
            if run.need > self.missing.first:
                return
            for copy in run.copies:
                if not copy.released:
                    self._release(copy, out)
            self.first_unsent += 1

    def copy(self) -> Hybrid:
        twin = Hybrid(self.process, self.coalesce, self.whole_runs)
        self._copy_into(twin)
        return twin
