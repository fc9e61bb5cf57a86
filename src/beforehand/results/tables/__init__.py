"""Every table on disk, by the output that it belongs to.

- `ingest.py`: events (the trace schema), and the messages, rejects and files of an ingest.
- `characteristics.py`: what the workload is like.
- `sweep.py`: the runs of a sweep; `metrics.py`: what the papers claim and what those runs show.
- `audit.py`: verdicts and violations.
- `study.py`: the comparison of protocols and the advice.
- `cluster.py`: what each real process did; `comparison.py`: one program under several protocols (both in
  a note, not in Parquet).

Per message means per causal-send; in a study, per message of the workload. State is the protocol's.
"""
