"""Label checks: contradictions in a corpus, and labels that are worth a second look.

`base` defines what a check gets and returns. `checks` holds the checks and lists them in the
order of the report; two of them, `Repeats` and `OverTime`, need the whole corpus. All are pure:
passages, part-of-speech tags and answers in, findings out.
"""
