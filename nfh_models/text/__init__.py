"""Tokens, lemmas and numbers of plain text. Importing it loads no framework."""
