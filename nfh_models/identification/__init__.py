"""Identification: whether the noun of a number is missing, so that the number is a fused head.

`base` has the records, the protocol `Identifier` and batching; `recipes` loads an identifier by
name; `rules` and `svm` are recipes (`encoder` is a package of its own); `scores`, `evaluation`
and `ablation` measure them. Importing these modules loads no framework but numpy.
"""
