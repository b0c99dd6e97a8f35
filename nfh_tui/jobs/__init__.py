"""Background jobs: the runner, the kinds of jobs, and the predictor child.

`runner` runs jobs in a process of its own, or in that of a command that waits for its job;
`predictor` is the child of a workbench or of the server, which speaks `protocol`; `cluster` and
`cluster_work` also run on the workers of a Dask cluster. `descriptions`, `logs`, `reporting`,
`snapshot` and `training` are also used by the processes that queue and show jobs.

May import the store, the models, `nfh_tui.services` and `nfh_tui.scanning`; no screen. The job
"evaluate" alone calls its command's module, inside a function.
"""
