"""Merge of another copy of a database, which is only read, into this one.

`run` is the entry point: it makes a plan, writes it and reports. `source` opens and reads the
copies, `log_diff` compares their event logs, `plan` decides what comes in and `apply` writes
it. The store imports `run`, and so does crash recovery (`bulk_run`); the command line imports
the report from `log_diff`. Nothing else is imported from outside.
"""
