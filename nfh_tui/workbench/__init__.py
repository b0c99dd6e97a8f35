"""The workbench: its screen and what that is made of."""
