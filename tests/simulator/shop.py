"""Purchases as a program: Blessing et al., section 2, with four processes, one of which only relays."""

from __future__ import annotations

from beforehand.simulator import Program, Send

MS = 10**6


def purchase_program(count: int) -> Program:
    """A credit to the bank, an order to the shop, and the debit that the order causes."""
    sends: list[Send] = [Send("hello", "relay", ("customer",))]
    for number in range(count):
        credit, order, debit = (f"{step} {number}" for step in ("credit", "order", "debit"))
        sends.append(Send(credit, "customer", ("bank",), at_ns=number * MS))
        sends.append(Send(order, "customer", ("shop",), (credit,)))
        sends.append(Send(debit, "shop", ("bank",), (order,)))
    return Program(sends)
