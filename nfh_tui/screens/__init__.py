"""The screens and dialogs; each is imported when it is first opened."""
