"""Training of networks: one loop for all of them, told step by step, resumed after a kill."""
