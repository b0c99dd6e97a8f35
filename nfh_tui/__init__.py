"""The workbench: command line, screens and background jobs, where store and models meet.

`services` and `jobs` import both packages below and no screen; `workbench`, `screens` and
`widgets` import no SQL and no framework; `cli` imports all, each command when it is called.
"""
