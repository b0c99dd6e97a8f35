"""What the soak scripts and their short forms in the tests share."""
