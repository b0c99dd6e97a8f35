"""File formats: files to plain records and back.

Shared: `base` (the declaration of a format), `rows` (what readers yield and writers take,
options), `files` (safe reading and writing of texts, folders and zip files, limits), `fields`
(strict JSON objects), `json_stream` (JSON in constant memory), `dialog` (turns and scenes),
`spans` (span graphs of answers, token alignment), `annotation_tasks` (claims of annotators,
rows of a task) and `stored_annotation` (what an export stores in another tool's file).
`registry` lists the formats.

A reader is a function of a Source, Binary or Folder and of ReadOptions; it yields GoldRow,
LabelledRow, DialogBlock or AssignmentRow, refuses invalid files with `source.error` and appends
to `source.warnings` what it leaves out. A writer is a class made from Writing, with one of the
methods `line`, `chunks` and `members`, and with `left_out`.

To add a format: write a module with its reader, its writer and a `Format`, and list the
`Format` in `registry.OURS`. A library that it needs is imported inside functions. Plug-ins
import `base`, `rows` and `spans` (docs/formats-plugins.md). No module here imports the store.
"""
