"""The spaCy component `nfh`. Importing this loads spaCy and registers the component."""

from nfh_models.component.fused_heads import NumericFusedHeads, make_component

__all__ = ["NumericFusedHeads", "make_component"]
