"""Bounded model checking: every interleaving of the real cores, up to a bound."""
