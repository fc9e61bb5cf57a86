"""Files wherever an engine reaches: on this machine, or on the file systems of Hadoop.

- `storage.py` has the operations; it does them itself for paths on this machine.
- `hadoop.py` does them for `hdfs:`, `s3a:` and the like, through Spark's JVM.
- `replace.py` writes an output aside and puts it in place when it is complete.

Only names, sizes and small texts go through here; engines read and write tables. A table is complete
when its folder has `_SUCCESS`, an output of several tables when its note is there: that comes last.
"""

from beforehand.pipeline.storage.replace import replacing
from beforehand.pipeline.storage.storage import File, Storage, absolute, is_near, join, local_path

__all__ = ["File", "Storage", "absolute", "is_near", "join", "local_path", "replacing"]
