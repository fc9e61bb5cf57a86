"""Logarithm and exponential that give the same bits on every machine, compiled or not.

C libraries differ in the last bit of `log` and `exp`. One such bit can move a frame by a nanosecond, and
two frames that swap places make another run. Addition,
multiplication, division and square root are exact by IEEE 754, so these two use nothing else. (The
compiled build must not fuse a multiplication with an addition: see setup.py.)

Both are power series, truncated where the next term is below half a unit in the last place, and
unrolled since they are evaluated for every frame.
"""

from typing import Final

LN_2: Final = 0.6931471805599453
SQRT_HALF: Final = 0.7071067811865476
LARGEST: Final = 700.0  # exp of more would not be a finite float


def ln(x: float) -> float:
    """The natural logarithm of a positive number."""
    if not 0.0 < x < 1e300:
        raise ValueError(f"the logarithm of {x}")
    exponent = 0.0
    while x < SQRT_HALF:
        x *= 2.0
        exponent -= 1.0
    while x >= 2.0 * SQRT_HALF:
        x *= 0.5
        exponent += 1.0
    # ln x = 2 artanh((x - 1) / (x + 1)), and |s| is now below 0.172.
    s = (x - 1.0) / (x + 1.0)
    square = s * s
    total = 1.0 / 23.0
    total = total * square + 1.0 / 21.0
    total = total * square + 1.0 / 19.0
    total = total * square + 1.0 / 17.0
    total = total * square + 1.0 / 15.0
    total = total * square + 1.0 / 13.0
    total = total * square + 1.0 / 11.0
    total = total * square + 1.0 / 9.0
    total = total * square + 1.0 / 7.0
    total = total * square + 1.0 / 5.0
    total = total * square + 1.0 / 3.0
    total = total * square + 1.0
    return 2.0 * s * total + exponent * LN_2


def exp(x: float) -> float:
    """e to the power of x."""
    if not -LARGEST <= x <= LARGEST:
        raise ValueError(f"the exponential of {x}")
    exponent = int(x / LN_2 + (0.5 if x >= 0.0 else -0.5))
    rest = x - exponent * LN_2  # at most half of LN_2, up or down
    total = 1.0 + rest * (1.0 / 15.0)
    total = 1.0 + total * rest * (1.0 / 14.0)
    total = 1.0 + total * rest * (1.0 / 13.0)
    total = 1.0 + total * rest * (1.0 / 12.0)
    total = 1.0 + total * rest * (1.0 / 11.0)
    total = 1.0 + total * rest * (1.0 / 10.0)
    total = 1.0 + total * rest * (1.0 / 9.0)
    total = 1.0 + total * rest * 0.125
    total = 1.0 + total * rest * (1.0 / 7.0)
    total = 1.0 + total * rest * (1.0 / 6.0)
    total = 1.0 + total * rest * 0.2
    total = 1.0 + total * rest * 0.25
    total = 1.0 + total * rest * (1.0 / 3.0)
    total = 1.0 + total * rest * 0.5
    total = 1.0 + total * rest
    while exponent > 0:
        total *= 2.0
        exponent -= 1
    while exponent < 0:
        total *= 0.5
        exponent += 1
    return total
