"""The pure state machine of an answer: no screen, no store."""
