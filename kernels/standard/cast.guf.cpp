// SPDX-License-Identifier: Apache-2.0
// The loops of guf::cast from every dtype to every other dtype, which convert operands.
// The function returns its argument; storing the result converts it.
#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE T cast(T x) {
  return x;
}

}  // namespace standard

#define GUF_CAST_TO_REAL(from)                                                             \
  from "->b " from "->B " from "->h " from "->H " from "->i " from "->I " from "->q " from \
       "->Q " from "->e " from "->E " from "->f " from "->d "
#define GUF_CAST_FROM(from) from "->? " GUF_CAST_TO_REAL(from) from "->F " from "->D"

GUF_UFUNC(standard::cast, GUF_CAST_FROM("?"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("b"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("B"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("h"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("H"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("i"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("I"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("q"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("Q"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("e"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("E"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("f"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("d"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("F"));
GUF_UFUNC(standard::cast, GUF_CAST_FROM("D"));
