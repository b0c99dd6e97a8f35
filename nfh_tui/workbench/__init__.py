"""The workbench: the one screen for work on items, and the parts it is made of.

May import `widgets`, `screens`, `editor`, `services` and `nfh_tui.client`; no SQL and no
framework.
"""
