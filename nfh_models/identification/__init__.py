"""Identification: is this number a fused head, that is, is its noun missing?"""
