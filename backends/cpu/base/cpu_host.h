// SPDX-License-Identifier: Apache-2.0
// Imports the names of the backend SDK into the namespace of this plugin.
#ifndef GUFUNC_BACKENDS_CPU_BASE_CPU_HOST_H
#define GUFUNC_BACKENDS_CPU_BASE_CPU_HOST_H

#include <gufunc/backend/host.hpp>

namespace gufunc::cpu {
using namespace sdk;
}

#endif  // GUFUNC_BACKENDS_CPU_BASE_CPU_HOST_H
