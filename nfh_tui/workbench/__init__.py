"""The workbench: the screen for work on items, and its controllers.

May import `widgets`, `screens`, `editor`, `services` and `nfh_tui.client`; no SQL and no
machine-learning framework.
"""
