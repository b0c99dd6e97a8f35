"""Methods for numeric fused heads: numbers, identification, resolution, agreement.

Importing this package loads nothing but the standard library; a framework is loaded
by the module that needs it, when it is needed.
"""
