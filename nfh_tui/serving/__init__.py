"""Serving the workbench to browsers.

`access`, `server` and `visit` run in the process of `nfh-tui serve`: access control, the server
on top of textual-serve, and the server's side of one visit. `child` and `guest_client` run in
one process per visit, the only part that imports screens. Only the command `serve` imports from
here.
"""
