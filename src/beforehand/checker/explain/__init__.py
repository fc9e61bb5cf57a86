"""What an exploration found, for people.

- `run_events.py`: a run as events (send, release, receive, hold, deliver, ...), by replaying it.
- `spacetime.py`: those events as a space-time diagram in text.
- `figures.py`: whether the run is one that a paper has drawn.
- `coverage.py`: what must have happened at least once for a verdict to mean anything.
"""
