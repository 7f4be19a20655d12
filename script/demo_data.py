#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The data of script/demo: creates the inputs, times a command on them, and checks its output.

The real data is a terrain model of the Jacksboro fault in Tennessee (344 x 403 heights, a public
domain product of the US Geological Survey), from Debian's python-matplotlib-data. Near every point
the surface is z = a x^2 + b x y + c y^2. Geomorphology uses the square root of the discriminant,
sqrt(b^2 - 4 a c). Where this square root is real, the ground is a pass or a slope that bends both
ways, and has two asymptotic directions. Where it is NaN, the ground is a summit or a hollow.
"""

import pathlib
import subprocess
import sys
import time

import numpy as np

TERRAIN = "/usr/share/matplotlib/mpl-data/sample_data/jacksboro_fault_dem.npz"
METRES_PER_DEGREE = 111_200.0
GENERATED = 10_000_000


def terrain():
    """Returns the second-order coefficients at every inner point. Heights and distances are in
    metres."""
    model = np.load(TERRAIN)
    z = model["elevation"].astype(np.float64)
    latitude = np.radians((float(model["ymin"]) + float(model["ymax"])) / 2)
    dx = METRES_PER_DEGREE * float(model["dx"]) * np.cos(latitude)
    dy = METRES_PER_DEGREE * float(model["dy"])
    a = (z[1:-1, 2:] - 2 * z[1:-1, 1:-1] + z[1:-1, :-2]) / (2 * dx * dx)
    b = (z[2:, 2:] - z[2:, :-2] - z[:-2, 2:] + z[:-2, :-2]) / (4 * dx * dy)
    c = (z[2:, 1:-1] - 2 * z[1:-1, 1:-1] + z[:-2, 1:-1]) / (2 * dy * dy)
    return a, b, c


def generated():
    """Returns values in the example's ranges: a and c in [0, 1), b in [10, 11). The seed is fixed.
    """
    random = np.random.default_rng(2024)
    a, b, c = random.random((3, GENERATED))
    return a, b + 10, c


def make(folder):
    for name, arrays in (("terrain", terrain()), ("generated", generated())):
        for letter, array in zip("abc", arrays):
            for dtype in ("f4", "f8"):
                np.save(folder / f"{name}-{dtype}-{letter}.npy", array.astype(dtype))
        print(f"{name}: {arrays[0].shape}, {arrays[0].size} points")


def formula(a, b, c, dtype):
    """Returns sqrt(b^2 - 4ac), with every operation rounded to `dtype`."""
    a, b, c = (x.astype(dtype) for x in (a, b, c))
    with np.errstate(invalid="ignore"):
        return np.sqrt(b * b - dtype(4) * a * c)


def check(folder, name, dtype):
    """Compares the result bit by bit with NumPy's result in the same type, and compares it with the
    result in long double."""
    a, b, c = (np.load(folder / f"{name}-{dtype}-{letter}.npy") for letter in "abc")
    result = np.load(folder / f"{name}-{dtype}-out.npy")
    expected = formula(a, b, c, np.dtype(dtype).type)
    real = ~np.isnan(expected)
    if result.dtype != expected.dtype or result.shape != expected.shape:
        sys.exit(f"WRONG: {result.dtype}{result.shape}, not {expected.dtype}{expected.shape}")
    bits = f"u{result.dtype.itemsize}"
    different = np.count_nonzero(result.view(bits)[real] != expected.view(bits)[real])
    different += np.count_nonzero(real == np.isnan(result))
    if different:
        sys.exit(f"WRONG: {different} values differ from NumPy's in {dtype}")
    print(f"equal to NumPy in {dtype}, every bit; first values {result.ravel()[:4]}")

    if name == "generated":
        exact = formula(a, b, c, np.longdouble)
        worst = float(np.max(np.abs(result - exact) / np.spacing(result)))
        print(f"at most {worst:.2f} ULP from long double")
        if worst > 1:
            sys.exit("WRONG: more than 1 ULP from long double")
    else:
        print(f"{np.mean(~real):.1%} summits and hollows (no real root), "
              f"{np.mean(real & (expected > 0)):.1%} passes and saddles")


def run(folder, name, dtype, command):
    start = time.perf_counter()
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - start
    check(folder, name, dtype)
    values = np.load(folder / f"{name}-{dtype}-out.npy", mmap_mode="r").size
    print(f"{values} values in {seconds:.3f} s with start, reading and writing: "
          f"{values / seconds / 1e6:.0f} million per second")


def main():
    verb, folder, *rest = sys.argv[1:]
    folder = pathlib.Path(folder)
    if verb == "make":
        make(folder)
    else:
        name, dtype, _, *command = rest
        run(folder, name, dtype, command)


if __name__ == "__main__":
    main()
