"""The stages of a drive's life: related presets; ``--stage`` selects one."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab import _native
from ssdlab.errors import InputError
from ssdlab.suggestions import did_you_mean

_ADULT = "adult"
STAGES = ("young", _ADULT, "old")
"""The stages in order of age; the preset of the adult drive has no suffix."""


def at_stages(devices: Sequence[str], stages: Sequence[str]) -> list[str]:
    """Return the presets of these devices at each of these stages, or the devices without stages.

    Raises :class:`InputError` if a stage is unknown, or if a device has no stages.
    """
    for stage in stages:
        if stage not in STAGES:
            expected = f"one of {', '.join(STAGES)}{did_you_mean(stage, STAGES)}"
            raise InputError.at("--stage", f'unknown stage: got "{stage}", expected {expected}')
    return [_sister(device, stage) for device in devices for stage in stages] or list(devices)


def _sister(device: str, stage: str) -> str:
    """Return a device's preset at a stage; an unknown device is returned, and refused later."""
    presets = [name for name, _ in _native.presets()]
    staged = [name for name in presets if set(_sisters(name).values()) <= set(presets)]
    if device not in presets:
        return device
    if device in staged:
        return _sisters(device)[stage]
    if (base := device.rpartition("-")[0]) in staged:
        expected = f"expected --device {base}"
        raise InputError.at("--stage", f"{device} is already at a stage: {expected}")
    expected = f"expected one of {', '.join(staged)}"
    raise InputError.at("--stage", f"{device} has no stages: {expected}")


def _sisters(device: str) -> dict[str, str]:
    """Return the names of a device's presets by stage."""
    return {stage: device if stage == _ADULT else f"{device}-{stage}" for stage in STAGES}
