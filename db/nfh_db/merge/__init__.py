"""Bringing in what was done in another copy of a database, which is only read. `run.merge`
is the whole of it: `plan` finds what the other copy has more, `apply` writes that where
nobody sees it, and then makes it count, act by act.
"""
