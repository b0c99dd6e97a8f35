"""Training of networks: one loop for all of them, reported step by step and resumed after a
kill.

`plan` has the parameters of a training and loads no framework, `loop` runs it, and
`checkpoints` stores its state. `loop` and `checkpoints` load torch.
"""
