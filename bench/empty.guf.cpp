// SPDX-License-Identifier: Apache-2.0
// An empty kernel, to compare a direct launch by the driver with the launch of a plan.
#include <gufunc/raw_kernel.hpp>

GUF_DEVICE void empty(guf::block) {}
GUF_KERNEL(empty, "threads=1");
