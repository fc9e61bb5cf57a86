"""`beforehand demo` (`command`), which runs a `demo` in a `folder`.

- `comparison`: a program under two protocols, run by real processes; `comparison_view` prints it.
- `steps`: what `--full` adds; `summary` puts it into a few sentences.
"""
