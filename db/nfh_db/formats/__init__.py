"""File formats: bytes to plain records and back. No SQL, no tokenizer, no lemmas.

`registry` lists the formats; each has a module that reads it, and `gold_form` and
`release` write the two that leave again.
"""
