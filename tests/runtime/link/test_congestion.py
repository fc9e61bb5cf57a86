"""The congestion window: growth, one reaction per round trip, and spurious losses undone."""

from beforehand.runtime.link.congestion import MAX_WINDOW, Congestion

D = 1000  # bytes of a datagram


def after_a_loss() -> Congestion:
    """A window of 16 datagrams, no longer in slow start, that shrank at 100."""
    congestion = Congestion(D)
    congestion.lost(1, 50, 100)
    assert congestion.window == 16 * D and not congestion.in_slow_start()
    return congestion


def test_slow_start_doubles() -> None:
    """At first the window grows by all that is acknowledged."""
    congestion = Congestion(D)
    assert congestion.window == 32 * D and congestion.in_slow_start()
    congestion.grow(32 * D)
    assert congestion.window == 64 * D


def test_one_datagram_per_window() -> None:
    """After a loss it takes a window of acknowledgements to grow by a datagram, in whatever portions."""
    congestion = after_a_loss()
    for _ in range(159):
        congestion.grow(D // 10)
    assert congestion.window == 16 * D
    congestion.grow(D // 10)
    assert congestion.window == 17 * D
    congestion.grow(17 * D + 18 * D)
    assert congestion.window == 19 * D


def test_one_reaction_per_round_trip() -> None:
    """Packets sent before the window shrank do not make it shrink again; a later one does."""
    congestion = after_a_loss()
    congestion.lost(5, 99, 120)
    congestion.lost(1, 100, 130)
    assert congestion.window == 16 * D
    congestion.lost(1, 101, 140)
    assert congestion.window == 8 * D


def test_never_below_four_datagrams() -> None:
    """However many losses, a usable window remains."""
    congestion = Congestion(D)
    for time in range(10, 200, 10):
        congestion.lost(1, time, time + 1)
    assert congestion.window == 4 * D


def test_unused_window() -> None:
    """The window counts as used when half full in slow start, and when nearly full later."""
    congestion = Congestion(D)
    assert congestion.used(16 * D) and not congestion.used(15 * D)
    congestion = after_a_loss()
    assert congestion.used(14 * D) and not congestion.used(13 * D)


def test_a_spurious_loss_is_undone() -> None:
    """When the only loss was spurious, window, slow start and time of the loss are restored."""
    congestion = after_a_loss()
    congestion.undo_loss(congestion.event)
    assert congestion.window == 32 * D and congestion.in_slow_start()
    congestion.lost(1, 60, 150)  # this one was sent before the mistake, and is true
    assert congestion.window == 16 * D


def test_a_real_loss_among_spurious_ones() -> None:
    """As long as one loss is real, or the spurious ones are old, the reduction stays."""
    congestion = after_a_loss()
    congestion.lost(2, 90, 120)
    first = congestion.event
    congestion.undo_loss(first)
    congestion.undo_loss(first)
    assert congestion.window == 16 * D
    congestion.lost(1, 130, 140)
    congestion.undo_loss(first)
    assert congestion.window == 8 * D
    congestion.undo_loss(congestion.event)
    assert congestion.window == 16 * D


def test_growth_since_the_spurious_loss_is_kept() -> None:
    """Undoing never makes the window smaller, and happens once."""
    congestion = after_a_loss()
    for _ in range(20):
        congestion.grow(congestion.window)
    assert congestion.window == 36 * D
    congestion.undo_loss(congestion.event)
    assert congestion.window == 36 * D
    congestion.collapse()
    congestion.undo_loss(congestion.event)
    assert congestion.window == 4 * D


def test_collapse() -> None:
    """Persistent congestion leaves the smallest window, in slow start, for good."""
    congestion = after_a_loss()
    congestion.collapse()
    congestion.undo_loss(congestion.event)
    assert congestion.window == 4 * D and congestion.in_slow_start()


def test_a_largest_window() -> None:
    """The window stops at its limit, so that arithmetic with it stays in 64 bits."""
    congestion = Congestion(D)
    congestion.grow(2 * MAX_WINDOW)
    assert congestion.window == MAX_WINDOW
