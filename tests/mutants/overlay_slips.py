"""The smallest run that each slip of the printed algorithms breaks, and how (`overlay_runs.py`).

The same run on the real cores ends well: `tests/papers/test_prc_slips.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.support.overlay import Pair
from tests.support.overlay_runs import SQUARE, STAR, TAIL, TRIANGLE

# 1 opens a link to 2 over the mediator 0: alpha, beta, pi, rho, B-beta.
ALPHA, BETA, PI, RHO, B_BETA = "1>2", "2>0 0>1", "1>0 0>2", "2>0 0>1", "1>2"
MADE = f"1+2/0 {ALPHA} {BETA} {PI} {RHO} {B_BETA}"


class Run(NamedTuple):
    """Steps on an overlay, and the problem that the slip causes."""

    steps: str
    problem: str  # the first word of it
    links: list[Pair] = STAR
    protocol: str = "prc"


RUNS = {
    # An answer in the midst of B-beta, here the beta of another link, comes back over the new link.
    "Qi gains the link after B-beta was used": Run("1+2 2+1/0 2>1", "error"),
    "B-beta is a set": Run(f"1+2/0 {ALPHA} {BETA} 1! 1! {PI} {RHO} {B_BETA}", "causal"),
    # 1#1 is in B-beta only by name; 1#2 comes over the link after it.
    "B-beta has no payloads": Run(f"1+2/0 {ALPHA} {BETA} 1! {PI} {RHO} 1! {B_BETA} 1>2", "causal"),
    # 2 gives up on 1 and forgets what it expects from it; then the copy comes.
    "data count on any link": Run("0! 0>1 0>2 2~1 1>2", "duplicate", TRIANGLE),
    # 1#1 is no longer accepted, but the pi that came after it is.
    "control counts on any link": Run(
        f"1+2/0 {ALPHA} 1! {BETA} 1>>0 2~0 0>>2 2>3 3>1 1! 1>2 1>2", "causal", SQUARE
    ),
    "a safe link is opened again": Run(f"{MADE} 1+2/0", "unfinished"),
    # An old beta; 2 has delivered and forgotten 2#1 when the new alpha comes, 1 keeps it for B-beta.
    "beta has no incarnation": Run(
        f"1+2/0 {ALPHA} 1-2 1+2/0 2! {BETA} 2>0 0>2 1>2 1>2 0>1", "duplicate"
    ),
    # An old pi; 1 has 1#1 before beta, so that it is not in B-beta, and 2 after pi.
    "pi has no incarnation": Run(f"1+2/0 {ALPHA} {BETA} 1-2 1+2/0 1>2 1>2 {PI} 1!", "kept"),
    # An old rho; 2#1 is in B-alpha, and 1 delivers it after B-beta.
    "rho has no incarnation": Run(
        f"1+2/0 {ALPHA} {BETA} {PI} 1-2 1+2/3 1>2 1>2 2>3 3>1 2! 1>3 3>2 {RHO} {B_BETA}",
        "duplicate",
        SQUARE,
    ),
    "beta is accepted although no link is being opened": Run(f"1+2/0 {ALPHA} 1-2 {BETA}", "error"),
    "pi is accepted although no link is being opened": Run(
        f"1+2/0 {ALPHA} {BETA} 1-2 1>2 {PI}", "error"
    ),
    "rho is accepted although no link is being opened": Run(
        f"1+2/0 {ALPHA} {BETA} {PI} 1-2 {RHO}", "error"
    ),
    # 2#1 is on its way to 1 when the beta comes that should have come after it.
    "beta is sent directly": Run("2! 0>2 1+2/0 1>2 2>1", "duplicate"),
    "pi is sent directly": Run("1+2 1>2 0! 2>0 0>>1 0!", "causal"),
    "rho is sent directly": Run("1+2 2? 1!", "duplicate"),
    # 2 expects from 1 what 1 does not send it any more.
    "close leaves Qi alone": Run("1-2 1>2 0!", "kept", TRIANGLE),
    # 1 takes the link for open, so that it is not opened again, and 2 loses its only one.
    "close leaves Qo alone": Run(f"1-2 1>2 {MADE} 0-2 0!", "undelivered", TRIANGLE),
    "close leaves E alone": Run("0! 0>2 1-2", "kept", TRIANGLE),
    "no time-out for a mediator that crashes": Run(f"1+2/0 {ALPHA} 0x", "unfinished", SQUARE),
    # 3 has 1#1 from 1 and forgets it, before 2, which has yet to get it, lets it in too.
    "joining through two contacts at once": Run("3@1 3@2 3>1 1>3 1! 1>3 3>2 2>3", "duplicate"),
    "delivering before forwarding": Run("1! 0?", "causal"),
    # The pong of a link that was given up; 3#1 is on its way to 2 when 1 uses the new one.
    "preventive: a pong has no incarnation": Run(
        "1+2/0 1>0 0>2 1-2 3! 3>1 1+2/0 2>1 1! 1>2", "causal", TAIL, "preventive"
    ),
    "preventive: the ping is sent directly": Run(
        "3! 3>1 1+2/0 1>2 2>1 1! 1>2", "causal", TAIL, "preventive"
    ),
}
