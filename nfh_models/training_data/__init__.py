"""Labelled passages that come with the package, written for it; none is from the release."""
