"""The identifier of the spaCy component: rules, a model's folder, or files kept of one."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from nfh_models.component.files import IDENTIFIER, write_files
from nfh_models.identification.case import Identifier
from nfh_models.identification.recipes import RULES, RecipeError, load_identifier
from nfh_models.model_files import ModelFileError, read_config


def from_setting(setting: str, name: str) -> Identifier:
    """What the setting `identifier` of a component names.

    name: of the component, for the sentence. Raises ModelFileError, or RecipeError.
    """
    if setting == RULES:
        return load_identifier(RULES)
    folder = Path(setting)
    if not _is_folder(folder):
        raise ModelFileError(
            f"the identifier {setting!r} of the component {name!r} is neither {RULES} nor a "
            f"model's folder: there is no such folder, seen from {Path.cwd()}"
        )
    return _from_folder(folder)


def from_files(files: Mapping[str, bytes], origin: str) -> Identifier:
    """The identifier of a model's files. origin: where they are from, for the sentence.

    Raises ModelFileError, or RecipeError.
    """
    with TemporaryDirectory(prefix="nfh-") as above:
        folder = Path(above) / IDENTIFIER
        write_files(folder, files)
        try:
            return _from_folder(folder)
        except ModelFileError as error:
            # That folder is gone when the sentence is read.
            raise ModelFileError(str(error).replace(str(folder), origin)) from error


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # as of a name that is longer than names may be
        return False


def _from_folder(folder: Path) -> Identifier:
    config = read_config(folder)
    if config.task not in ("identification", "both"):
        raise RecipeError(f"{folder} is a model of {config.task}, not of identification")
    return load_identifier(config.recipe, folder)
