/* SPDX-License-Identifier: Apache-2.0
 * libgufunc: NumPy's universal functions on every device, through one C ABI. Programs include only
 * this header. */
#ifndef GUFUNC_GUFUNC_H
#define GUFUNC_GUFUNC_H

#include "array.h"
#include "call.h"
#include "chunks.h"
#include "context.h"
#include "device.h"
#include "device_memory.h"
#include "dlpack.h"
#include "dtype.h"
#include "graph.h"
#include "kernels.h"
#include "limits.h"
#include "methods.h"
#include "module_table.h"
#include "status.h"
#include "stream.h"
#include "ufunc.h"

#endif /* GUFUNC_GUFUNC_H */
