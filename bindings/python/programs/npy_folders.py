# SPDX-License-Identifier: Apache-2.0
"""Reads the command line of the programs, which tests/bindings/programs/README.md describes."""

import pathlib
import sys

import gufunc
import numpy as np


class Folders:
    def __init__(self, modules, inputs, outputs, device="cpu"):
        self.modules, self.inputs = pathlib.Path(modules), pathlib.Path(inputs)
        self.outputs, self.device = pathlib.Path(outputs), gufunc.Device(device)

    def module(self, name):
        return gufunc.load(self.modules / f"{name}.so")

    def load(self, name):
        return np.load(self.inputs / f"{name}.npy")

    def save(self, name, array):
        found = array.numpy() if isinstance(array, gufunc.Array) else array
        np.save(self.outputs / f"{name}.npy", found)


def run(program):
    try:
        program(Folders(*sys.argv[1:]))
    except gufunc.Error as error:
        sys.exit(f"{error.name}: {error}")
