"""Serving the workbench to browsers: the people invited, the gate, a child for each visit.

`guests`, `address`, `wire` and `meter` are plain values and functions. `server` joins them to
textual-serve; `child` is what runs in the process of one visit, and the only part that
imports the screen.
"""
