"""File formats: bytes to plain records and back. `registry` lists them; a format that needs
a library loads it when one of its files is read or written.
"""
