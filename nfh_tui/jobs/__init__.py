"""Background jobs: the runner, the kinds of jobs, and the predictor child.

May import the store, the models, `nfh_tui.services` and `nfh_tui.scanning`; no screen. The job
"evaluate" alone calls its command's module, inside a function.
"""
