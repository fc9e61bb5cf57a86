"""What runs leave on disk, declared once for the pipeline, the report and the command line.

In reading order:

- `layout.py`: the folders and notes of each kind of output, and how to recognise one.
- `schema.py`: `Field` and `Schema`, free of Spark and Arrow; `tables/` declares every table with them.
- `violations.py`: the kinds of violations that an audit counts.
- `notes.py` and `provenance.py`: the JSON notes next to the tables, and how an output was made.
- `output_folder.py`: whether a folder for output can be made.
- `format.py`: durations, sizes, counts and lists as people read them.

A sweep, for example: the pipeline writes `tables.sweep.RESULTS` into `SweepFolder.RESULTS`, with a note
per wave; the report recognises the folder by `layout.kind_of`, checks the same schema, and shows each
figure with the meaning and unit that its `Field` declares.
"""
