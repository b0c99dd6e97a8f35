"""Identification: whether the noun of a number is missing, so that the number is a fused head.

`base` has the records, the protocol `Identifier`, batching and the recipes by name; `rules` and
`svm` are recipes (`encoder` is a package of its own); `scores` and `evaluation` measure them,
with the ablation of their parts. Importing these modules loads no framework but numpy.
"""
