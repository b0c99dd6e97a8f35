"""Bringing in what was done in another copy of a database.

`run.merge` is the whole of it. The other copy is only read. `planning` finds what it has
more, `bringing` writes that where nobody sees it, `applying` makes it count, act by act,
and `extras` carries over what is no part of the log.
"""
