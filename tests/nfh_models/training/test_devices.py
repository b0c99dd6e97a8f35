"""Devices and precisions; those that are not here are played."""

from contextlib import nullcontext

import pytest
import torch

from nfh_models.training.loop import FAST_BF16, DeviceError, autocast, choose_device, kind_of

CPU = torch.device("cpu")


@pytest.fixture
def plain_cpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    for name in FAST_BF16:
        monkeypatch.setattr(torch.cpu, name, lambda: False, raising=False)


@pytest.mark.parametrize("name", [None, "auto", "cpu"])
def test_cpu_where_there_is_nothing_else(plain_cpu, name):
    assert choose_device(name) == CPU


@pytest.mark.parametrize("name", ["cuda", "cuda:3", "mps", "gpu", "meta", ""])
def test_devices_that_are_not_there(plain_cpu, name):
    with pytest.raises(DeviceError):
        choose_device(name)


def test_precision_of_a_plain_cpu(plain_cpu):
    assert kind_of(CPU) is torch.float32
    assert isinstance(autocast(CPU), nullcontext)
    for precision in ("bf16", "fp16"):
        with pytest.raises(DeviceError, match=precision):
            kind_of(CPU, precision)


def test_precision_of_a_cpu_that_multiplies_bf16(plain_cpu, monkeypatch):
    monkeypatch.setattr(torch.cpu, FAST_BF16[0], lambda: True)
    assert kind_of(CPU) is torch.bfloat16
    assert kind_of(CPU, "fp32") is torch.float32
    with autocast(CPU):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.bfloat16


def test_auto_takes_what_is_there(plain_cpu, monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device().type == "mps"
    assert kind_of(choose_device()) is torch.float32
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda emulated: False)
    assert choose_device().type == "cuda"
    assert kind_of(choose_device()) is torch.float16
    with pytest.raises(DeviceError, match="there are 1"):
        choose_device("cuda:1")
