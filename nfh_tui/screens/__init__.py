"""The screens beside the workbench, and the dialogs; each is imported when it is first opened.

Modules named `*_figures` are pure. No SQL and no framework is imported here.
"""
