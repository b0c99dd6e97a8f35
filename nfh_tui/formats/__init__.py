"""All formats: those of the store's package, those that need a library, and third parties'."""
