// SPDX-License-Identifier: Apache-2.0
// Reshaping without a copy, if the strides permit it.
#include <algorithm>

#include "core/array/views.h"
#include "core/base/checked.h"

namespace gufunc::array {
namespace {

guf_status fail_reshape(const Array &array, int32_t ndim, const int64_t *shape, guf_error *error) {
  // NumPy's message omits unknown extents at the front.
  int32_t first = 0;
  while (first < ndim && shape[first] < 0) ++first;
  base::Text text;
  text.add("(");
  for (int32_t axis = first; axis < ndim; ++axis) {
    if (axis > first) text.add(",");
    if (shape[axis] < 0) {
      text.add("newaxis");
    } else {
      text.add("%lld", static_cast<long long>(shape[axis]));
    }
  }
  text.add(ndim == 1 ? ",)" : ")");
  return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                    "cannot reshape array of size %llu into shape %s",
                    static_cast<unsigned long long>(array.size()), text.c_str());
}

// Copies the shape, computes the extent passed as -1, and checks the sizes.
guf_status complete_shape(const Array &array, int32_t ndim, const int64_t *shape, Dimensions *out,
                          guf_error *error) {
  if (ndim < 0 || ndim > GUF_MAX_NDIM) {
    return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                      "maximum supported dimension for an ndarray is %d, found %d", GUF_MAX_NDIM,
                      ndim);
  }
  int32_t unknown = -1;
  int64_t known = 1;
  bool overflow = false;
  for (int32_t axis = 0; axis < ndim; ++axis) {
    if (shape[axis] < -1) {
      return base::fail(error, GUF_E_SHAPE, base::kNone, axis,
                        "negative dimensions are not allowed; axis %d: got %lld", axis,
                        static_cast<long long>(shape[axis]));
    }
    if (shape[axis] == -1) {
      if (unknown >= 0) {
        return base::fail(error, GUF_E_SHAPE, base::kNone, axis,
                          "can only specify one unknown dimension");
      }
      unknown = axis;
    } else {
      overflow |= !base::checked_mul(known, shape[axis], &known);
    }
    out->append(shape[axis], 0);
  }
  const auto size = static_cast<int64_t>(array.size());
  if (overflow) return fail_reshape(array, ndim, shape, error);
  if (unknown >= 0) {
    if (known == 0 || size % known != 0) return fail_reshape(array, ndim, shape, error);
    out->shape[unknown] = size / known;
  } else if (known != size) {
    return fail_reshape(array, ndim, shape, error);
  }
  return GUF_OK;
}

// Enumerates the axes, innermost first. The caller omits source axes of extent 1.
struct Walk {
  int32_t ndim;
  bool fortran;
  int32_t axis(int32_t i) const { return fortran ? i : ndim - 1 - i; }
};

// Returns the stride of the next outer axis, which is stride * extent. The product can overflow
// only if the next axis has at most one element or the array is empty. Any stride is then valid.
int64_t after(int64_t stride, int64_t extent) {
  return static_cast<int64_t>(base::offset_of(stride, extent));
}

// Computes the strides with which `to` visits the elements of the source in order. Returns false if
// no such strides exist. Both shapes are split, from the innermost axis on, into groups with the
// same number of elements. The source axes of a group must be contiguous with each other.
bool fit_strides(const Dimensions &source, bool fortran, Dimensions *to) {
  const Walk from_walk{source.ndim, fortran};
  const Walk to_walk{to->ndim, fortran};
  int32_t i = 0;
  int32_t j = 0;
  while (i < source.ndim) {
    int64_t run = source.shape[from_walk.axis(i)];
    const int64_t step = source.strides[from_walk.axis(i)];
    ++i;
    int64_t covered = 1;
    const int32_t first = j;
    while (covered != run) {
      if (covered < run) {
        covered *= to->shape[to_walk.axis(j++)];
        continue;
      }
      if (!base::is_product(source.strides[from_walk.axis(i)], step, run)) return false;
      run *= source.shape[from_walk.axis(i++)];
    }
    int64_t stride = step;
    for (int32_t k = first; k < j; ++k) {
      to->strides[to_walk.axis(k)] = stride;
      stride = after(stride, to->shape[to_walk.axis(k)]);
    }
  }
  // The remaining axes of `to` have extent 1.
  for (; j < to->ndim; ++j) {
    const int32_t before = j == 0 ? 0 : to_walk.axis(j - 1);
    to->strides[to_walk.axis(j)] = j == 0 ? 0 : after(to->strides[before], to->shape[before]);
  }
  return true;
}

bool is_contiguous(const Array &array, bool fortran) {
  return (array.flags() & (fortran ? GUF_ARRAY_F_CONTIGUOUS : GUF_ARRAY_C_CONTIGUOUS)) != 0;
}

}  // namespace

guf_status reshape(const Array &array, int32_t ndim, const int64_t *shape, int32_t order,
                   base::Ref<Array> *out, guf_error *error) {
  if (order != GUF_ORDER_C && order != GUF_ORDER_F && order != GUF_ORDER_ANY) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "order must be C, F or any for reshaping; got %d", order);
  }
  Dimensions to;
  GUF_TRY(complete_shape(array, ndim, shape, &to, error));
  const Layout &from = array.layout();
  uint64_t size = 0;  // complete_shape does not check the extents of an empty array
  GUF_TRY(count_elements(from.dtype, to.ndim, to.shape, &size, error));
  const bool fortran = resolve_order(array, order) == GUF_ORDER_F;
  if (is_contiguous(array, fortran)) {
    contiguous_strides(from.dtype, to.ndim, to.shape, fortran ? GUF_ORDER_F : GUF_ORDER_C,
                       to.strides);
  } else {
    Dimensions source;
    for (int32_t axis = 0; axis < from.ndim; ++axis) {
      if (from.shape[axis] != 1) source.append(from.shape[axis], from.strides[axis]);
    }
    GUF_TRY(source.check(error));
    if (!fit_strides(source, fortran, &to)) {
      return base::fail(
          error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
          "incompatible shape for a non-contiguous array: no strides can express this "
          "view; copy the array first");
    }
  }
  return make_view(array, to, from.address, false, out, error);
}

guf_status ravel(const Array &array, int32_t order, base::Ref<Array> *out, guf_error *error) {
  const auto size = static_cast<int64_t>(array.size());
  return reshape(array, 1, &size, order, out, error);
}

}  // namespace gufunc::array
