"""Plain text: the number grammar (`numbers`), tokens and lemmas (`tokens`), sentences
(`sentences`).

Importing these modules loads no framework: spaCy's tokenizer and simplemma's tables are loaded
when `tokens` first uses them.
"""
