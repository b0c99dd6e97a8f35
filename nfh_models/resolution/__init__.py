"""Resolution: which head or which implicit class a numeric fused head has.

`base` has the records, the protocol `Resolver`, batched parsing, and the recipe `nearest-noun`;
`recipes` loads a resolver by name; `baselines` (`deterministic`, `nearest-noun`), `cues`,
`linear` and `bilstm` are recipes (`encoder` is a package of its own); `heads` turns a choice
into an answer with all heads and mentions; `scoring` and `evaluation` measure recipes;
`head_examples` reads the training passages with several heads. Importing `bilstm` loads torch,
`word_vectors`, `linear`, `scoring` and `evaluation` load numpy; the others load no framework.
"""
