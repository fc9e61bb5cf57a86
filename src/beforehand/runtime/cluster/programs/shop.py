"""Customers, a shop and a bank: a customer pays in and then orders; the shop charges the bank.

The payment precedes the charge, but takes another way. A bank that gets the charge first refuses it.
"""

from collections.abc import Sequence
from typing import Final

from beforehand.runtime.cluster.programs.script import Line, Script, ScriptedProgram

PRICE: Final = 10
PER_ORDER: Final = 3  # messages


def _names(count: int) -> list[str]:
    customers = [f"customer{number}" for number in range(1, count - 1)]
    return [*(customers if len(customers) > 1 else ["customer"]), "shop", "bank"]


def _script(names: Sequence[str], messages: int) -> Script:
    *customers, shop, bank = names
    lines: list[Line] = []
    for order in range(1, max(1, messages // PER_ORDER) + 1):
        customer = customers[order % len(customers)]
        payment = len(lines)
        lines += (
            Line(customer, (bank,), f"I pay {PRICE} for order {order}"),
            Line(customer, (shop,), f"order {order}, paid", after=payment),
            Line(
                shop, (bank,), f"charge {PRICE} for order {order}", after=payment + 1, needs=payment
            ),
        )
    return tuple(lines)


def _explain(process: str, early: Line, late: Line) -> str:
    return (
        f"the {process} got the {early.sender}'s \u201c{early.text}\u201d before the {late.sender}'s "
        f"\u201c{late.text}\u201d, so it refused an order that was paid."
    )


SHOP: Final = ScriptedProgram(
    name="shop",
    title="A shop",
    least=3,
    names=_names,
    script=_script,
    explain=_explain,
    harm="charges refused although they were paid",
)
