# SPDX-License-Identifier: Apache-2.0
"""Queues work on a stream of a device.

python_device_stream.py [DEVICE]
"""

import sys

import gufunc
import numpy as np

device = gufunc.Device(sys.argv[1] if len(sys.argv) > 1 else "cpu")
stream = gufunc.Stream(device)
x = gufunc.array(np.arange(5.0), device=device, stream=stream)
y = gufunc.multiply(x, x, stream=stream)  # does not copy or wait
done = stream.record()
total = gufunc.add.reduce(y, stream=stream)
stream.synchronize()
print(done.query(), y.numpy(), total.item())
