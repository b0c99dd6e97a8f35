"""Child processes: they know the store and the models, and no screen."""
