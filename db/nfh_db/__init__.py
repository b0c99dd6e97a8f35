"""The SQLite file behind the workbench: schema, store, event log, bulk work.

`store` is what others import; `records` and `errors` are what it gives and raises. Folders:
`query`, `formats`, `merge`, `doctor`. Imports `nfh_models.domain`; formats alone import
`nfh_models.text` and the spaCy component's attributes, inside functions. No screen.
"""
