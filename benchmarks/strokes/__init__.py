"""What counts the key strokes of a decision: made-up votes, shortest keys, the app itself."""
