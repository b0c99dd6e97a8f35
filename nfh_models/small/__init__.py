"""The bundled model `small`, for identification and resolution. This package is its model
directory.

See card.md for what it was made of and where it fails, and NOTICE for the licence of its
encoder.
"""
