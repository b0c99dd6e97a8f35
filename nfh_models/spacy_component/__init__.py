"""The spaCy component `nfh`. Importing this loads spaCy and registers the component."""

from nfh_models.spacy_component.component import NumericFusedHeads, make_component

__all__ = ["NumericFusedHeads", "make_component"]
