"""The share of fused heads in large texts: blocks, worker processes, checkpoints, figures.

May import the store, the models, `nfh_tui.services` and `nfh_tui.jobs`; no screen.
"""
