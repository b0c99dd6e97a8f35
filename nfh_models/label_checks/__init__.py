"""Label checks: contradictions in a corpus, and labels that are worth a second look.

`base` defines what a check gets and returns, `number_checks` and `head_checks` hold the checks
by subject, and `checks` lists all of them in the order of the report. `head_checks` has two
more that need the whole corpus: `Repeats` and `OverTime`. All are pure: passages,
part-of-speech tags and answers in, findings out.
"""
