"""The spaCy component `nfh`, for `nlp.add_pipe("nfh")`.

`component` has the component, `attributes` the attributes of Doc, Span and Token, and `files`
the models that it uses and saves. Importing this package loads spaCy and registers the
component.
"""

from nfh_models.spacy_component.component import NumericFusedHeads, make_component

__all__ = ["NumericFusedHeads", "make_component"]
