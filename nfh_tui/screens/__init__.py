"""The screens beside the workbench, and the dialogs; each is imported when it is first opened.

Modules named `*_figures` need no screen. No SQL and no machine-learning framework is imported
here.
"""
