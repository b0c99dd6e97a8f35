"""The workbench: command line, screens and background jobs. Where store and models meet."""
