"""A customer, a shop and a bank: no charge may be refused because a datagram was late.

The customer pays money into the bank and then orders at the shop; the shop charges the customer's
account. Each payment was made before the charge that it is for, but the two take different ways, and
this network loses, duplicates and reorders. A bank that gets the charge first refuses it: that
happens with `fifo`, which keeps the order of each sender only, and never with causal order.

    python examples/shop.py
"""

from __future__ import annotations

import asyncio

import beforehand
from beforehand.runtime.transports import Faulty, UdpTransport

PURCHASES = 300
PRICE = 10


async def customer(node: beforehand.Node) -> None:
    """Pay in, then order."""
    for _ in range(PURCHASES):
        await node.send("bank", b"pay in %d" % PRICE)
        await node.send("shop", b"order")
        await asyncio.sleep(0)  # yield to the other tasks: customers are slower than this loop


async def shop(node: beforehand.Node) -> None:
    """Charge each order to the account of the customer."""
    async for message in node:
        assert message.payload == b"order"
        await node.send("bank", b"charge %d" % PRICE)


async def bank(node: beforehand.Node) -> tuple[int, int]:
    """Keep the account; returns its balance, and how many charges it did not cover."""
    balance = refused = 0
    for _ in range(2 * PURCHASES):
        message = await node.receive()
        action, _, amount = message.payload.rpartition(b" ")
        if action == b"pay in":
            balance += int(amount)
        elif balance >= int(amount):
            balance -= int(amount)
        else:
            refused += 1
    return balance, refused


async def trade(protocol: str) -> int:
    """All three, each on its own socket; returns how many charges were refused."""
    key = beforehand.keygen()

    def node(name: str, seed: int, **peers: str) -> beforehand.Node:
        bad = Faulty(UdpTransport(), loss=0.1, duplicate=0.1, reorder=0.3, seed=seed)
        return beforehand.Node(name, transport=bad, peers=peers, key=key, protocol=protocol)

    async with (
        node("bank", 1) as at_bank,
        node("shop", 2, bank=at_bank.address) as at_shop,
        node("customer", 3, bank=at_bank.address, shop=at_shop.address) as at_home,
    ):
        serving = asyncio.create_task(shop(at_shop))
        buying = asyncio.create_task(customer(at_home))
        balance, refused = await bank(at_bank)
        await buying
    await serving  # it ends with its node
    print(f"{protocol}: {PURCHASES} purchases, {refused} charges refused, {balance} left over")
    return refused


if __name__ == "__main__":
    beforehand.run(trade("fifo"))
    assert beforehand.run(trade("hybrid-sps")) == 0
