"""What the screens are made of. Widgets know no database: what they show is given to them.

They import `editor`, records, the vocabulary and what is pure of others; no store.
`*_rows`, `*_layout` and `*_lines` are pure: text and roles, no screen.
"""
