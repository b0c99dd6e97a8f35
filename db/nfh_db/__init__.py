"""The SQLite database behind the workbench: schema, store, event log and bulk operations.

`store.Store` is the entry point: it groups the operations by subject. `records` holds the types
that the store accepts and returns, `errors` the exceptions that it raises.

Folders: `query` parses and compiles queries, `formats` reads and writes files, `merge` merges
another copy of a database, `doctor` checks and repairs a file.

This package may import `nfh_models.domain`. `formats` alone may also import `nfh_models.text`
and the attributes of the spaCy component, inside functions. It imports nothing of `nfh_tui`.
"""
