"""The share of fused heads in large texts.

`blocks` opens files, cuts them and counts; `worker` is the worker process and the protocol it
speaks; `workers` (this machine) and `cluster` (Dask) are the two worker pools; `scan` runs a
scan and keeps its checkpoints. `scan` and the pools run in the process of the command
`nfh-tui scan`, `worker` in processes of its own or in those of a Dask cluster.

May import the store, the models, `nfh_tui.services` and `nfh_tui.jobs`; no screen. Commands and
`nfh_tui.jobs` import from here.
"""
