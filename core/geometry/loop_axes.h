// SPDX-License-Identifier: Apache-2.0
// Converts broadcast dimensions to loop dimensions: drops, flips, sorts and coalesces them.
#ifndef GUFUNC_CORE_GEOMETRY_LOOP_AXES_H
#define GUFUNC_CORE_GEOMETRY_LOOP_AXES_H

#include "core/geometry/launch.h"

namespace gufunc::geometry {

// Writes the operands, addresses, dtypes, flags, loop dimensions and stride bits of a launch. The
// caller writes the core dimensions.
// Errors  GUF_E_INTERNAL <= the request has more than GUF_MAX_NDIM loop dimensions
guf_status write_loop(const Request &request, Launch *out, guf_error *error);

}  // namespace gufunc::geometry

#endif  // GUFUNC_CORE_GEOMETRY_LOOP_AXES_H
