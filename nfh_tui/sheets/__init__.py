"""What the screens of figures show, as plain values: lines of cells. No screen, no store."""
