"""Parsers behind one protocol, for words that are already tokens.

`base` has the protocol, its records and `load_parser`, which chooses by name; `spacy_parser`
and `stanza_parser` implement it; `span_heads` finds the syntactic head of a phrase. Importing
these modules loads no framework: a parser loads its own when it is created.
"""
