// SPDX-License-Identifier: Apache-2.0
// The device entries that gufcc instantiates.
#ifndef GUFUNC_KERNEL_DEVICE_ENTRIES_HPP
#define GUFUNC_KERNEL_DEVICE_ENTRIES_HPP

#include "device_elementwise.hpp"
#if !defined(GUF_OPENCL)  // OpenCL cannot use a number as an address
#include "device_fold.hpp"
#endif
#include "device_generalized.hpp"

#endif  // GUFUNC_KERNEL_DEVICE_ENTRIES_HPP
