"""Methods for numeric fused heads: text, identification, resolution, agreement, label checks.

All modules work on plain records of `domain`; none knows the database or a screen. Import from
the module that defines a name: packages re-export nothing, except `domain`, the shared
vocabulary, and `spacy_component`, the entry point of spaCy.

    domain             passages, anchors, answers, their comparison, settlement rules
    text               tokens, lemmas, sentences and the number grammar of plain text
    parsing            spaCy and stanza parsers behind one protocol
    identification     recipes that decide whether a number is a fused head
    resolution         recipes that choose its head or class, and their evaluation
    encoder            recipes `encoder`, `base` and `small`
    training           the training loop of all networks
    agreement          agreement coefficients, competence of annotators, audits
    label_checks       contradictions and doubtful labels of a corpus
    spacy_component    the component `nfh` of a spaCy pipeline
    statistics         the corpus figures of the paper
    model_files        model directories and settings of recipes

Importing this package loads only the standard library. A framework is loaded by the module that
needs it, when it is needed.
"""


class ModelsError(Exception):
    """The base class of errors that a user can do something about.

    The message is a sentence that says what is wrong, where, and what to do next.
    """
