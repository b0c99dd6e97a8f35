"""The pure state machine of an answer: a state and a command give the next state.

May import records and `nfh_models.domain`; no screen, no store.
"""
