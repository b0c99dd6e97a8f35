"""Label checks: what a corpus says that cannot be so, or that is worth a second look. Pure:
passages, tags and answers in, findings out.
"""
