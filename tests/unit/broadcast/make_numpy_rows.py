#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes numpy_rows.txt: shapes, order= and axes= of random calls, with NumPy 2's results.

A row is `signature|inputs|out|where|order|axis|keepdims|axes|result`. An operand is
`shape:strides` of float64 (strides in bytes). The result is the output's shape and strides, or
`!` and NumPy's message. If NumPy's message describes its iterator and not the call, the result is
`!` without a message.
"""

import argparse
import random
import re

import numpy as np
from numpy._core import _umath_tests as more

FUNCTIONS = {
    "": np.add,
    "(n?,k),(k,m?)->(n?,m?)": np.matmul,
    "(n),(n)->()": np.vecdot,
    "(m,n),(n)->(m)": np.matvec,
    "(n),(n,m)->(m)": np.vecmat,
    "(3),(3)->(3)": more.cross1d,
    "(i),(i),(i)->()": more.innerwt,
}
ITERATOR_TEXT = re.compile(r"requires a reduction|\[remapped to")


def numbers(values):
    return ",".join(str(v) for v in values)


def operand(array):
    return "-" if array is None else f"{numbers(array.shape)}:{numbers(array.strides)}"


def array_of(rng, shape, dtype=float):
    """Returns an array of the given shape, with its axes in random order in memory and some strides
    negative."""
    axes = list(range(len(shape)))
    if rng.random() < 0.5:
        rng.shuffle(axes)
    base = np.zeros([shape[a] for a in axes], dtype)
    result = base.transpose(np.argsort(axes)) if axes else base
    index = tuple(slice(None, None, -1 if rng.random() < 0.15 else 1) for _ in shape)
    return result[index]


def broken(rng, shape, chance):
    return [rng.choice([0, 1, 2, 3]) if rng.random() < chance else e for e in shape]


def call_shapes(rng, signature):
    loop = [
        rng.choice([1, 2, 3, 3, 0] if rng.random() < 0.3 else [2, 3])
        for _ in range(rng.randint(0, 3))
    ]
    sizes = {}
    sides = re.sub(r"\s", "", signature).split("->") if signature else [",".join(["()"] * 2), "()"]
    shapes = []
    for core in re.findall(r"\(([^)]*)\)", ",".join(sides)):
        names = [n for n in core.split(",") if n]
        own = [e if rng.random() < 0.7 else 1 for e in loop][rng.randint(0, len(loop)) :]
        if rng.random() < 0.5:
            own = [e if rng.random() < 0.7 else 1 for e in loop]
        dims = []
        for name in names:
            if name.endswith("?") and rng.random() < 0.15:
                continue
            plain = name.rstrip("?")
            dims.append(
                int(plain)
                if plain.isdigit()
                else sizes.setdefault(plain, rng.choice([1, 2, 3, 4, 0]))
            )
        shapes.append(broken(rng, own, 0.02) + broken(rng, dims, 0.04))
    return loop, shapes


def row(rng):
    signature = rng.choice(list(FUNCTIONS) + ["", "", "(n),(n)->()"])
    function = FUNCTIONS[signature]
    loop, shapes = call_shapes(rng, signature)
    inputs = [array_of(rng, s) for s in shapes[: function.nin]]
    out = where = None
    options = {"order": rng.choice("KKKACF")}
    if rng.random() < 0.35:
        core = (
            shapes[-1][len(shapes[-1]) - signature.split("->")[-1].count(",") :]
            if signature
            else []
        )
        lead = loop if rng.random() < 0.7 else broken(rng, loop, 0.3)
        if signature:
            try:
                core = function(*inputs).shape[len(np.broadcast_shapes(*[()])) :]
                lead = [] if rng.random() < 0.8 else [2]
            except ValueError:
                core = shapes[-1]
        out = np.zeros(list(lead) + list(core))
    if not signature and rng.random() < 0.2:
        where = array_of(rng, [e if rng.random() < 0.7 else 1 for e in loop], bool)
    axis = keepdims = axes = None
    if signature == "(n),(n)->()" and rng.random() < 0.3:
        axis = options["axis"] = rng.randint(-3, 2)
    if signature in ("(n),(n)->()", "(i),(i),(i)->()") and rng.random() < 0.2:
        keepdims = options["keepdims"] = True
    if signature == "(n?,k),(k,m?)->(n?,m?)" and rng.random() < 0.3:
        axes = [tuple(rng.randint(-3, 2) for _ in range(2)) for _ in range(3)]
        if all(a.ndim >= 2 for a in inputs):
            options["axes"] = axes
        else:
            axes = None
    given = [numbers(a) for a in axes] if axes else None
    head = [
        signature,
        " ".join(operand(a) for a in inputs),
        operand(out),
        operand(where),
        options["order"],
        "-" if axis is None else str(axis),
        "1" if keepdims else "0",
        "/".join(given) if given else "-",
    ]
    if where is not None and out is None:
        options["out"] = None
    elif out is not None:
        options["out"] = out
    if where is not None:
        options["where"] = where
    try:
        made = function(*inputs, **options)
        made = np.asarray(made)
        result = f"{numbers(made.shape)}:{numbers(made.strides)}"
    except (ValueError, TypeError, np.exceptions.AxisError) as refusal:
        text = str(refusal)
        result = "!" if ITERATOR_TEXT.search(text) else "!" + text
    return "|".join(head + [result])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("output")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    rows = dict.fromkeys(row(rng) for _ in range(args.rows))
    with open(args.output, "w", encoding="ascii") as file:
        file.write(f"# NumPy {np.__version__}; written by make_numpy_rows.py\n")
        file.writelines(line + "\n" for line in rows)


main()
