"""From a workload to a decision: ingest, characterise, replay under every protocol, audit, recommend.

- `study.py` is the whole: `run_study(engine, Study(...))`.
- `source.py` makes the ingest, or generates `shop_workload.py`; `replayed_run.py` turns one run of it
  into a program, with `truncate.py` and `idle_gaps.py` to keep it small.
- `eligibility.py` decides which protocols are replayed; `sweep` and `audit` do the work.
- `figures.py` joins results and verdicts, `advice.py` holds the rules of the recommendation,
  `markdown.py` writes the page; the tables are declared in `schemas.py`.
"""

from beforehand.pipeline.study.advice import Advice
from beforehand.pipeline.study.figures import Candidate, ProtocolFigures
from beforehand.pipeline.study.study import MESSAGES, NETWORKS, STEPS, Study, StudyResult, run_study

__all__ = [
    "MESSAGES",
    "NETWORKS",
    "STEPS",
    "Advice",
    "Candidate",
    "ProtocolFigures",
    "Study",
    "StudyResult",
    "run_study",
]
