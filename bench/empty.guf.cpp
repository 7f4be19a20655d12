// SPDX-License-Identifier: Apache-2.0
// What a driver launches when nothing is to be done: the peer of a plan's launch.
#include <gufunc/raw_kernel.hpp>

GUF_DEVICE void empty(guf::block) {}
GUF_KERNEL(empty, "threads=1");
