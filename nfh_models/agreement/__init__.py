"""How far annotators agree, and how far each can be trusted."""
