"""The old name of `base`, for plug-ins that import it; use `nfh_db.formats.base`."""

from nfh_db.formats.base import ChunkWriter, First, FolderWriter, Format, How, What, holds
from nfh_db.formats.base import InputKind as Takes

__all__ = ["ChunkWriter", "First", "FolderWriter", "Format", "How", "Takes", "What", "holds"]
