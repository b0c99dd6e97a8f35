"""Identification: is the noun of this number missing? `recipes` makes an identifier by name.

Importing this package loads no framework.
"""
