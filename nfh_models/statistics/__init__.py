"""The figures of the paper's sections 4.3 and 5.4, for numbers of any source.

Pure functions and counters over plain records, in memory that does not grow with them.
"""
