"""Resolution: which head or class a numeric fused head has. `recipes` makes a resolver by name.

Importing this package loads no framework; `bilstm` loads torch.
"""
