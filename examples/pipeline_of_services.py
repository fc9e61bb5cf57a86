"""A pipeline of services in which a slow stage slows the source, and nothing piles up.

A camera sends pictures through two services to an archive. Labelling is slow. The camera could
take thousands of pictures in that time, but `send` waits while the next service is behind by more
than its window, and that service waits for the one after it: no queue to watch, no limit to guess.

    python examples/pipeline_of_services.py
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import beforehand

PICTURES = 200
WINDOW = 8  # messages that each service lets others send ahead
LABELLING = 0.003  # seconds per picture

Work = Callable[[bytes], bytes]


async def camera(node: beforehand.Node, taken: list[int]) -> None:
    """Take pictures as fast as the pipeline lets us."""
    for number in range(PICTURES):
        await node.send("resize", b"picture %d" % number)
        taken.append(number)


async def service(node: beforehand.Node, following: str, work: Work, seconds: float) -> None:
    """Take a message, work on it, pass it on."""
    async for message in node:
        await asyncio.sleep(seconds)
        await node.send(following, work(message.payload))


async def archive(node: beforehand.Node, taken: list[int]) -> int:
    """Keep everything, in order; returns how far the camera was ahead at most."""
    furthest = 0
    for number in range(PICTURES):
        message = await node.receive()
        assert message.payload == b"picture %d, small, with a cat" % number
        furthest = max(furthest, len(taken) - number)
    return furthest


async def main() -> None:
    """Start from the end, so that each service knows the address of the next one."""
    Node, taken = beforehand.Node, list[int]()
    async with (
        Node("archive", window=WINDOW) as last,
        Node("label", window=WINDOW, peers={"archive": last.address}) as label,
        Node("resize", window=WINDOW, peers={"label": label.address}) as resize,
        Node("camera", window=WINDOW, peers={"resize": resize.address}) as first,
    ):
        stages = [
            asyncio.create_task(service(resize, "label", lambda p: p + b", small", 0)),
            asyncio.create_task(
                service(label, "archive", lambda p: p + b", with a cat", LABELLING)
            ),
            asyncio.create_task(camera(first, taken)),
        ]
        furthest = await archive(last, taken)
    await asyncio.gather(*stages)  # the services end with their nodes
    most = (
        3 * WINDOW + 3
    )  # a window between each two, and one message being processed in each service
    print(f"{PICTURES} pictures archived; the camera was never ahead by more than {furthest}")
    print(f"three windows of {WINDOW} and the messages in hand allow {most}")
    assert WINDOW < furthest <= most


if __name__ == "__main__":
    beforehand.run(main())
