"""What the workbench keeps track of between keys: time, items read ahead, drafts unsaved."""
