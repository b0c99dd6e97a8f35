"""Serving the workbench to browsers. `access` says who may, `server` joins that to
textual-serve, `visit` is the server's side of one visit, and `child` runs in the process of
a visit, the only part that imports the screen.
"""
