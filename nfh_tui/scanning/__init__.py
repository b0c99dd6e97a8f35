"""The share of fused heads in large texts: blocks, workers, journals, figures."""
