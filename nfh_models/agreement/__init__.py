"""How far annotators agree, and how far each can be trusted: functions over plain records.

`report` gives all measures as one value. numpy is loaded by the modules that need it.
"""
