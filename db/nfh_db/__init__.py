"""The SQLite file behind the workbench: schema, store, formats.

Knows the shared vocabulary (`nfh_models.domain`) and nothing of models or screens.
"""
