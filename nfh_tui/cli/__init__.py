"""The command line. `main` names the commands and imports none of them.

A command's module is imported when the command is called, and may import everything.
"""
