"""What commands, jobs and screens all call: imports, predictions, evaluation, releases.

May import `nfh_db`, `nfh_models` and `nfh_tui.jobs`; no command, no screen, no click, no rich.
"""
