"""Protocols whose messages wait only at their sender, in one output buffer.

`output_buffer.py` is the buffer; `mattern.py` releases one message at a time, `cykas.py` more of them
if their receivers keep them secret; `cykas_unsafe.py` is the variant that the Cykas paper refutes.
"""
