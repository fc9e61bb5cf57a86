"""A cookie is valid for its address and its time, and costs the responder no memory."""

from __future__ import annotations

import random

from beforehand.runtime.identity.cookies import COOKIE_SIZE, SLOT, Cookies

WHO = b"connectn"
HOME = b"\x7f\0\0\1\x1b\x59"


def jar(seed: int = 1) -> Cookies:
    """The cookies of a process."""
    return Cookies(random.Random(seed).randbytes)


def test_a_cookie_holds_for_one_to_two_slots() -> None:
    """From its creation until the end of the next slot, and not a nanosecond longer."""
    for start in (0, SLOT - 1, 7 * SLOT + 12):
        cookies = jar()
        cookie = cookies.make(WHO, HOME, start)
        assert len(cookie) == COOKIE_SIZE
        end = (start // SLOT + 2) * SLOT
        for now in (start, start + SLOT // 2, end - SLOT, end - 1):
            assert cookies.check(cookie, WHO, HOME, now)
        assert not cookies.check(cookie, WHO, HOME, end)


def test_a_cookie_is_for_one_address_and_one_connection() -> None:
    """Also where the bytes of the two together are the same."""
    cookies = jar()
    cookie = cookies.make(WHO, HOME, 0)
    assert cookies.check(cookie, WHO, HOME, 0)
    for connection, address in ((WHO, HOME + b"\0"), (WHO, b""), (b"connectm", HOME)):
        assert not cookies.check(cookie, connection, address, 0)
    assert cookies.make(WHO, b"", 0) != cookies.make(WHO, b"\0", 0)


def test_a_changed_cookie_is_invalid() -> None:
    """Every bit counts, and so does the length."""
    cookies = jar()
    cookie = cookies.make(WHO, HOME, 0)
    for bit in range(8 * len(cookie)):
        changed = bytearray(cookie)
        changed[bit // 8] ^= 1 << bit % 8
        assert not cookies.check(bytes(changed), WHO, HOME, 0)
    for other in (b"", cookie[:-1], cookie + b"\0", bytes(COOKIE_SIZE)):
        assert not cookies.check(other, WHO, HOME, 0)


def test_secrets_are_not_used_again() -> None:
    """The cookie of an address changes with each slot, and differs between processes."""
    cookies = jar()
    distinct = {cookies.make(WHO, HOME, slot * SLOT) for slot in range(20)}
    distinct |= {jar(seed).make(WHO, HOME, 0) for seed in range(2, 22)}
    assert len(distinct) == 40


def test_no_cookie_is_valid_before_one_was_made() -> None:
    """The secret of the slot before the first is random, not empty and therefore known."""
    fresh = jar()
    fresh.make(WHO, HOME, 0)
    with_empty_secret = Cookies(lambda size: b"")
    assert not fresh.check(with_empty_secret.make(WHO, HOME, 0), WHO, HOME, 0)


def test_a_clock_that_jumps_voids_all_cookies() -> None:
    """Forwards by slots or backwards: nothing is accepted by mistake, and new cookies work."""
    for jump in (5 * SLOT, -3 * SLOT, -SLOT):
        cookies = jar()
        start = 10 * SLOT
        old = cookies.make(WHO, HOME, start)
        assert not cookies.check(old, WHO, HOME, start + jump)
        new = cookies.make(WHO, HOME, start + jump)
        assert cookies.check(new, WHO, HOME, start + jump)


def test_nothing_is_remembered() -> None:
    """After cookies for thousands of addresses the maker is as large as before."""
    cookies = jar()
    cookies.make(WHO, HOME, 0)
    before = dict(vars(cookies))
    for number in range(5_000):
        cookies.check(bytes(COOKIE_SIZE), WHO, number.to_bytes(6, "big"), 0)
        cookies.make(WHO, number.to_bytes(6, "big"), 0)
    assert vars(cookies) == before
