# SPDX-License-Identifier: Apache-2.0
"""Runs a chunked call, which supports arrays larger than a device's memory. A progress function
stops the call, which is then resumed.

python_chunked.py [DEVICE]
"""

import sys

import gufunc
import numpy as np

device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
x, out = np.arange(1_000_000.0), np.empty(1_000_000)
items = []
gufunc.sqrt.call_chunked(x, out=out, device=device, chunk_bytes=1 << 20,
                         progress=lambda done, of: items.append(done))
print(len(items), "chunks,", items[-1], "items", np.array_equal(out, np.sqrt(x)))

try:
    gufunc.negative.call_chunked(x, out=out, device=device, chunk_bytes=1 << 20,
                                 progress=lambda done, of: done > of // 2)
except gufunc.RunError as error:
    print(error.name, error.items_done > 500_000)
    gufunc.negative.call_chunked(x, out=out, device=device, first_item=error.items_done)
print(np.array_equal(out, -x))
