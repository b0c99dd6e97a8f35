"""File formats: bytes to plain records and back. `registry` lists them.

Plug-ins import `base`, `rows` and `spans`. A format that needs a library loads it when one of
its files is read or written. No module here imports the store.
"""
