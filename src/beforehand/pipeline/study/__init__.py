"""From traffic to a decision: ingest, characterise, replay under every protocol, audit, recommend.

- `job.py` is the whole: `run_study(spark, Study(...))`.
- `source.py` and `traffic.py` say what is replayed, `workload.py` is the built-in traffic.
- `advice.py` has the rules of the recommendation, on the figures of `figures.py`.
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
