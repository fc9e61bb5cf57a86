"""The accounts between two processes: windows, credit that comes in any order, and receipts."""

from beforehand.runtime.engine.credit import SendCredit


def account(window: int = 8, window_bytes: int = 1_000) -> SendCredit:
    """What alice sends to bob."""
    return SendCredit(window, window_bytes)


def test_credit_comes_in_any_order() -> None:
    """Links reorder: older reports change nothing."""
    bob = account()
    bob.accept(6, 600)
    assert bob.credit(5, 4, 400) and bob.credit(3, 2, 200) and bob.credit(5, 3, 300)
    assert (int(bob.delivered), int(bob.consumed), int(bob.consumed_bytes)) == (5, 4, 400)
    assert bob.credit(6, 6, 600)
    assert (int(bob.delivered), int(bob.consumed), int(bob.consumed_bytes)) == (6, 6, 600)


def test_impossible_credit_is_refused() -> None:
    """For more than was accepted, or taken before it was delivered; then nothing changes."""
    bob = account()
    bob.accept(3, 30)
    assert not bob.credit(4, 0, 0)
    assert not bob.credit(2, 3, 20)
    assert not bob.credit(3, 3, 31)
    assert (int(bob.delivered), int(bob.consumed)) == (0, 0)


def test_the_window_has_room_until_it_is_full() -> None:
    """For messages and for bytes, to the last of both."""
    bob = account(window=8, window_bytes=100)
    assert bob.has_room(8, 100) and not bob.has_room(9, 0)
    bob.accept(7, 90)
    assert bob.has_room(1, 10) and not bob.has_room(1, 11) and not bob.has_room(2, 0)
    bob.accept(1, 10)
    assert not bob.has_room(1, 0)


def test_one_message_may_be_larger_than_the_window() -> None:
    """When so little is under way that it may have been taken without our knowing."""
    bob = account(window=8, window_bytes=100)
    assert bob.has_room(1, 10**6)
    bob.accept(1, 24)
    assert bob.has_room(1, 10**6)
    bob.accept(1, 1)  # a quarter of the window
    assert not bob.has_room(1, 10**6)


def test_messages_have_a_place_among_those_to_the_account() -> None:
    """Numbers have gaps, because others get messages too; delivered ones have no position."""
    bob = account()
    bob.accept(6, 0)
    for first, count in ((1, 2), (3, 1), (7, 2), (10, 1)):
        bob.assign_numbers(first, count)
    places = {number: int(bob.position_of(number)) for number in range(1, 12)}
    assert places == {1: 1, 2: 2, 3: 3, 4: 0, 5: 0, 6: 0, 7: 4, 8: 5, 9: 0, 10: 6, 11: 0}
    assert bob.credit(4, 0, 0)
    assert [int(bob.position_of(number)) for number in (1, 3, 8, 10)] == [0, 0, 5, 6]
    assert bob.credit(6, 0, 0) and not bob.spans
    bob.accept(1, 0)
    bob.assign_numbers(20, 1)
    assert bob.position_of(20) == 7
