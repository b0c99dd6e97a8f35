"""Agreement between annotators, their competence, and audits of gold.

`measure` defines the input records (`AnsweredAnchor`) and `Measure`, a value with its interval.
`pairs` collects the answers into arrays, `coefficients` computes the coefficients, `competence`
and `drift` describe each annotator, and `report` combines all of it. `audit` plans and
evaluates audits. `measure` and `audit` load no framework; the others load numpy.
"""
