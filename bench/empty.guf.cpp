// SPDX-License-Identifier: Apache-2.0
// An empty kernel. Its launch by the driver is compared with the launch of a plan.
#include <gufunc/raw_kernel.hpp>

GUF_DEVICE void empty(guf::block) {}
GUF_KERNEL(empty, "threads=1");
