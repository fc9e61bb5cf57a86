"""Reading: the bytes of a file become rows, or reasons for rejection. Plain Python for Spark's tasks.

`read.py` unpacks a file (`gzipped.py`), detects its format (`sniff.py`) and calls the format's reader:
`traces.py`, `otlp.py`, `jaeger.py`, `zipkin.py`, `span_csv.py`, `shiviz.py`, `lists.py`, `graphs.py`.
Readers share `lines.py` and `json_documents.py` for text, `values.py` for single values and `spans.py`
for spans. They yield what `rows.py` declares; `options.py` is what a user may specify.
"""
