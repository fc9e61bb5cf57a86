"""Results as one self-contained HTML page. Knows nothing of Spark: it is given plain values."""
