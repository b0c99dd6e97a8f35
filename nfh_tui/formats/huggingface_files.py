"""Rows of the published data set's two configurations in Parquet files."""

import json
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from nfh_db.errors import FormatError
from nfh_db.formats.limits import LimitError
from nfh_db.formats.reading import Origin
from nfh_tui.formats.huggingface_rows import IDENTIFICATION, LABEL_NAMES, Values
from nfh_tui.formats.parquet_limits import (
    FOOTER_ITEMS,
    FOOTER_STRINGS,
    check_pages,
    check_types,
    rows_of,
)

if TYPE_CHECKING:
    import pyarrow

AT_ONCE = 1_000
"""Rows of a row group, and rows held at a time."""

Numbered = Iterator[tuple[int, dict[str, Any]]]
"""Rows with their numbers in a file, from 1."""

INSTALL = "needs pyarrow: pip install 'nfh-tui[formats]'"


class ParquetPart:
    """A Parquet file being filled, with the types that the published data set has.

    file: what was written of it, whole once it is closed. Its schema carries what `datasets`
    reads its features from, names of the label among them.
    """

    def __init__(self, configuration: str) -> None:
        from pyarrow import parquet

        self.file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - the export closes it
        self._schema = _schema(configuration)
        self._writer: Any = parquet.ParquetWriter(self.file, self._schema)
        self._rows: list[Values] = []

    def add(self, values: Values) -> None:
        """A further row."""
        self._rows.append(values)
        if len(self._rows) == AT_ONCE:
            self._flush()

    def close(self) -> None:
        """No more rows come."""
        self._flush()
        self._writer.close()

    def drop(self) -> None:
        """Let go of it, be it whole or not. A writer left open would write when collected."""
        try:
            self._writer.close()
        finally:
            self.file.close()

    def _flush(self) -> None:
        import pyarrow

        if self._rows:
            self._writer.write_table(pyarrow.Table.from_pylist(self._rows, self._schema))
            self._rows.clear()


def _schema(configuration: str) -> "pyarrow.Schema":
    import pyarrow as pa

    words, numbers = pa.list_(pa.string()), pa.list_(pa.int32())
    if configuration == IDENTIFICATION:
        columns: list[tuple[str, Any]] = [
            ("tokens", words),
            ("start_index", pa.int32()),
            ("end_index", pa.int32()),
            ("label", pa.int64()),
        ]
    else:
        columns = [
            ("tokens", words),
            ("line_indices", numbers),
            ("head", words),
            ("speakers", words),
            ("anchors_indices", numbers),
        ]
    features = {name: _feature(name, kind) for name, kind in columns}
    told = json.dumps({"info": {"features": features}})
    return pa.schema(columns, metadata={"huggingface": told})


def _feature(name: str, kind: Any) -> dict[str, object]:  # noqa: ANN401 - a type of arrow
    """A column as `datasets` names its type."""
    if name == "label":
        return {"names": list(LABEL_NAMES), "_type": "ClassLabel"}
    value_type = getattr(kind, "value_type", None)
    if value_type is None:
        return {"dtype": str(kind), "_type": "Value"}
    return {"feature": {"dtype": str(value_type), "_type": "Value"}, "_type": "List"}


# --- in -------------------------------------------------------------------------------------


def parquet_rows(source: Origin, file: IO[bytes]) -> Numbered:
    """The rows of a Parquet file, numbered from 1. Raises FormatError."""
    try:
        from pyarrow import ArrowException
    except ImportError as error:
        raise source.error(None, INSTALL) from error
    number = 0
    try:
        metadata = _opened(file).metadata
        check_pages(metadata, file)
        words = [
            column.path
            for column in map(metadata.schema.column, range(len(metadata.schema)))
            if column.physical_type == "BYTE_ARRAY"
        ]
        with _opened(file, read_dictionary=words) as opened:
            check_types(opened.schema_arrow)
            for batch in opened.iter_batches(batch_size=AT_ONCE):
                for values in rows_of(batch):
                    number += 1
                    yield number, values
    except LimitError as error:
        raise source.error(number + 1 if number else None, str(error)) from error
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise _damaged(source, number, error) from error


def _opened(file: IO[bytes], **more: Any) -> Any:  # noqa: ANN401 - no types in pyarrow
    from pyarrow import parquet

    file.seek(0)
    return parquet.ParquetFile(
        file,
        thrift_string_size_limit=FOOTER_STRINGS,
        thrift_container_size_limit=FOOTER_ITEMS,
        **more,
    )


def _damaged(source: Origin, number: int, error: Exception) -> FormatError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    place = number + 1 if number else None
    return source.error(place, f"cannot be read as Parquet: {reason}")
