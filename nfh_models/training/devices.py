"""What a network runs on, and how precisely it multiplies there."""

from contextlib import AbstractContextManager, nullcontext

import torch

from nfh_models.training.plan import PRECISIONS, TrainingError

DEVICES = "auto, cpu, cuda, cuda:NUMBER or mps"

FAST_BF16 = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
"""What torch.cpu is asked: instructions that multiply bfloat16. Where a processor has none,
torch can still do it, more slowly than 32 bits."""


class DeviceError(TrainingError):
    """A device that is not there, or that cannot do what is asked of it."""


def choose_device(name: str | None = None) -> torch.device:
    """The device of a name; for None and "auto" the fastest that is there.

    Raises DeviceError for a name that is none, and for a device that is not there.
    """
    if name is None or name == "auto":
        return torch.device(_fastest())
    try:
        chosen = torch.device(name)
    except RuntimeError as error:
        raise DeviceError(f"{name!r} is no device: wanted {DEVICES}") from error
    if chosen.type not in ("cpu", "cuda", "mps"):
        raise DeviceError(f"{name!r} is no device that is used here: wanted {DEVICES}")
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise DeviceError(f"There is no {name} here that torch can use. Try cpu, or auto")
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise DeviceError(f"{name} is not here: there are {torch.cuda.device_count()} of cuda")
    if chosen.type == "mps" and not torch.backends.mps.is_available():
        raise DeviceError("There is no mps here that torch can use. Try cpu, or auto")
    return chosen


def _fastest() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def kind_of(on: torch.device, precision: str = "auto") -> torch.dtype:
    """The type that matrix products are made in.

    "auto": 16 bits where the device is faster with them (bfloat16 before float16), else 32.
    Raises DeviceError for a precision that the device is not good for.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"{precision!r} is no precision: wanted one of {PRECISIONS}")
    good = [kind for kind in (torch.bfloat16, torch.float16) if _fast(on, kind)]
    if precision == "auto":
        return good[0] if good else torch.float32
    wanted = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[precision]
    if wanted is not torch.float32 and wanted not in good:
        raise DeviceError(f"This {on.type} is not made for {precision}. Try auto, or fp32")
    return wanted


def _fast(on: torch.device, kind: torch.dtype) -> bool:
    if on.type == "cuda":
        return kind is torch.float16 or torch.cuda.is_bf16_supported(False)
    if on.type == "cpu" and kind is torch.bfloat16:
        asked = (getattr(torch.cpu, name, None) for name in FAST_BF16)
        return any(ask is not None and ask() for ask in asked)
    return False


def autocast(on: torch.device, precision: str = "auto") -> AbstractContextManager[object]:
    """A context in which products are made in the precision: see `kind_of`."""
    kind = kind_of(on, precision)
    if kind is torch.float32:
        return nullcontext()
    return torch.autocast(on.type, dtype=kind)
