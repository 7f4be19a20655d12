# SPDX-License-Identifier: Apache-2.0
"""The current device of a backend, per thread."""

import threading

from . import lowlevel
from ._objects import Device

_local = threading.local()


def list_devices(backend):
    """All devices of a backend; no devices if the backend cannot be used."""
    for index in range(lowlevel.guf_backend_count()):
        found = lowlevel.guf_backend_get_info(index, 1)
        if found.name == backend and found.state == lowlevel.GUF_OK:
            return [Device(f"{backend}:{i}") for i in range(max(0, found.ndevices))]
    return []


def index_of(backend):
    """The index of this thread's current device."""
    return vars(_local).get(backend, 0)


def device_of(backend):
    """This thread's current device."""
    return Device(f"{backend}:{index_of(backend)}")


def _enter(device):
    """Makes the device this thread's current device of its backend until the block ends."""
    info = device.info
    vars(_local).setdefault("entered", []).append((info.backend, index_of(info.backend)))
    set_index(info.backend, info.index)
    return device


def _leave(device, *failure):
    set_index(*_local.entered.pop())


def install(cls):
    """Makes the Device class a context manager."""
    cls.__enter__, cls.__exit__ = _enter, _leave


def set_index(backend, index):
    """Makes the device with this index the current device of this thread."""
    vars(_local)[backend] = index
