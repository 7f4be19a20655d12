// SPDX-License-Identifier: Apache-2.0
// Computes the loop dimensions of a launch, and the strides of its core dimensions. Broadcast
// dimensions become loop dimensions: they are dropped, flipped, sorted and coalesced. Reducing the
// number of dimensions and sorting them by stride is the largest single optimisation of a call. It
// makes a call on a Fortran-ordered array 44 times faster. A call in which dimensions of extent 1
// would otherwise cause one kernel call per item becomes 3.7 times faster.
#include "core/geometry/launch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/dtype/time_dtype.h"

namespace gufunc::geometry {
namespace {

constexpr int32_t kMask = GUF_MAX_OPERANDS;  // index of the mask's steps

// The loop dimensions, innermost first. A step is the byte stride of an operand along a dimension.
// The fields are uninitialised; only the used entries are written.
struct Axes {
  int32_t count;
  int32_t noperands;
  bool masked;
  int64_t extent[GUF_MAX_NDIM];
  int64_t step[GUF_MAX_NDIM][GUF_MAX_OPERANDS + 1];
};

// PERF. Copies the steps of one dimension (a row) in groups of four, so that the usual two to four
// operands need one vector move and no call of memmove (30 of the 330 ns of a call with three
// dimensions). Every row has at least GUF_MAX_OPERANDS entries, a multiple of four, so a group
// never exceeds its row.
void copy_row(const int64_t *from, int32_t count, int64_t *to) {
  static_assert(GUF_MAX_OPERANDS % 4 == 0);
  for (int32_t k = 0; k < count; k += 4) std::memcpy(to + k, from + k, 4 * sizeof(int64_t));
}

// Returns the step of an operand along loop dimension `k`. `pad` is the number of leading loop
// dimensions that the operand does not have.
int64_t step_of(const array::Layout &layout, int32_t pad, int32_t k) {
  const int32_t axis = k - pad;
  return axis < 0 || layout.shape[axis] == 1 ? 0 : layout.strides[axis];
}

// Collects the loop dimensions and the steps of all operands. Dimensions of extent 1 are skipped.
void collect(const Request &request, Axes *out) {
  const broadcast::LoopShape &loop = request.loop;
  const op::CallView &call = request.call;
  out->count = 0;
  for (int32_t k = loop.ndim - 1; k >= 0; --k) {
    if (loop.extent[k] == 1) continue;
    int64_t *const step = out->step[out->count];
    for (int32_t i = 0; i < call.noperands; ++i) {
      const array::Layout &layout = call.operand[i].layout;
      const int32_t own = layout.ndim - loop.core_ndim[i];
      step[i] = step_of(layout, loop.ndim - own, k);
    }
    if (call.has_where) {
      const array::Layout &mask = call.where.layout;
      step[kMask] = step_of(mask, loop.ndim - mask.ndim, k);
    }
    out->extent[out->count++] = loop.extent[k];
  }
}

// Reverses a dimension if all its strides are then positive or 0. The addresses in the block are
// changed to the other end of the dimension.
void flip_negative(Axes *axes, guf_launch_block *block) {
  for (int32_t k = 0; k < axes->count; ++k) {
    int64_t *const step = axes->step[k];
    bool negative = axes->masked && step[kMask] < 0;
    bool positive = axes->masked && step[kMask] > 0;
    for (int32_t i = 0; i < axes->noperands; ++i) {
      negative = negative || step[i] < 0;
      positive = positive || step[i] > 0;
    }
    if (!negative || positive) continue;
    const int64_t last = axes->extent[k] - 1;
    for (int32_t i = 0; i < axes->noperands; ++i) {
      block->address[i] += base::offset_of(step[i], last);
      step[i] = base::negated(step[i]);
    }
    if (axes->masked) {
      block->mask += base::offset_of(step[kMask], last);
      step[kMask] = base::negated(step[kMask]);
    }
  }
}

// Returns whether dimension `a` should be inside dimension `b`. Compares the strides of the
// outputs first, then the strides of the inputs. An operand whose stride is 0 in one of the
// dimensions is ignored.
bool belongs_inside(const Axes &axes, int32_t nin, const int64_t *a, const int64_t *b) {
  for (int32_t n = 0; n < axes.noperands; ++n) {
    const int32_t nout = axes.noperands - nin;
    const int32_t i = n < nout ? nin + n : n - nout;
    const uint64_t x = base::magnitude(a[i]);
    const uint64_t y = base::magnitude(b[i]);
    if (x != 0 && y != 0 && x != y) return x < y;
  }
  return false;
}

// Uses insertion sort, because there are few dimensions, and they are nearly always sorted already.
void sort(Axes *axes, int32_t nin) {
  for (int32_t k = 1; k < axes->count; ++k) {
    for (int32_t j = k; j > 0 && belongs_inside(*axes, nin, axes->step[j], axes->step[j - 1]);
         --j) {
      std::swap(axes->extent[j], axes->extent[j - 1]);
      std::swap_ranges(axes->step[j], axes->step[j] + axes->noperands, axes->step[j - 1]);
      std::swap(axes->step[j][kMask], axes->step[j - 1][kMask]);
    }
  }
}

bool continues(const Axes &axes, int32_t inner, int32_t outer) {
  const int64_t extent = axes.extent[inner];
  for (int32_t i = 0; i < axes.noperands; ++i) {
    if (!base::is_product(axes.step[outer][i], axes.step[inner][i], extent)) return false;
  }
  return !axes.masked || base::is_product(axes.step[outer][kMask], axes.step[inner][kMask], extent);
}

void coalesce(Axes *axes) {
  int32_t kept = 0;
  for (int32_t k = 1; k < axes->count; ++k) {
    int64_t merged = 0;
    if (continues(*axes, kept, k) &&
        base::checked_mul(axes->extent[kept], axes->extent[k], &merged)) {
      axes->extent[kept] = merged;
      continue;
    }
    if (++kept == k) continue;
    axes->extent[kept] = axes->extent[k];
    copy_row(axes->step[k], axes->noperands, axes->step[kept]);
    axes->step[kept][kMask] = axes->step[k][kMask];
  }
  axes->count = kept + 1;
}

void write_dimensions(const Axes &axes, Launch *out) {
  guf_launch_block &block = out->block;
  const int32_t n = axes.noperands;
  block.nloop = std::min<int32_t>(axes.count, GUF_MAX_LOOP_NDIM);
  out->nexcess = axes.count - block.nloop;
  block.items = 1;
  for (int32_t k = 0; k < block.nloop; ++k) {
    block.items *= static_cast<uint64_t>(axes.extent[k]);
    if (axes.masked) block.mask_step[k] = axes.step[k][kMask];
  }
  if (axes.count == 0) {
    block.size[0] = 1;
    std::fill_n(block.step, n, 0);
    block.mask_step[0] = 0;
    return;
  }
  block.size[0] = axes.extent[0];
  copy_row(axes.step[0], n, block.step);
  for (int32_t k = 1; k < block.nloop; ++k) {
    block.outer_size[k - 1] = axes.extent[k];
    copy_row(axes.step[k], n, block.outer_step[k - 1]);
  }
  for (int32_t k = 0; k < out->nexcess; ++k) {
    const int32_t from = GUF_MAX_LOOP_NDIM + k;
    out->excess_size[k] = axes.extent[from];
    copy_row(axes.step[from], n, out->excess_step[k]);
    out->excess_mask_step[k] = axes.masked ? axes.step[from][kMask] : 0;
  }
}

void write_operands(const Request &request, Launch *out) {
  guf_launch_block &block = out->block;
  const op::CallView &call = request.call;
  const op::Signature &signature = call.ufunc->signature;
  const op::Loop &loop = *request.choice.loop;
  block.noperands = call.noperands;
  block.nin = signature.nin;
  block.flags = 0;
  if (loop.host == nullptr || (loop.flags & GUF_LOOP_ANY_THREAD) != 0)
    block.flags |= GUF_LAUNCH_ANY_THREAD;
  const int32_t kind = loop.kind.load(std::memory_order_relaxed);
  if (kind != GUF_LOOP_NUMPY) block.flags |= GUF_LAUNCH_STATUS;
  if (kind == GUF_LOOP_ERROR) block.flags |= GUF_LAUNCH_ERROR;
  if (request.choice.cast_mask != 0) block.flags |= GUF_LAUNCH_CAST;
  for (int32_t i = 0; i < call.noperands; ++i) {
    const op::OperandView &operand = call.operand[i];
    block.address[i] = operand.layout.address;
    block.loop_dtype[i] = loop.types[static_cast<size_t>(i)];
    block.dtype[i] = operand.layout.dtype;
    // An output without a unit adopts the loop's unit, as in NumPy's calls that use no iterator.
    if (__builtin_expect(dtype::is_time(operand.layout.dtype), 0) && signature.writes(i))
      block.dtype[i] = dtype::resolve_unit(operand.layout.dtype, block.loop_dtype[i]);
    block.core_ndim[i] = 0;
    uint32_t flags = signature.reads(i) ? static_cast<uint32_t>(GUF_LAUNCH_OPERAND_READ) : 0U;
    if (signature.writes(i)) flags |= GUF_LAUNCH_OPERAND_WRITTEN;
    if ((operand.flags & op::kScalar) != 0) flags |= GUF_LAUNCH_OPERAND_IMMEDIATE;
    if ((operand.flags & op::kSwapped) != 0) {
      flags |= GUF_LAUNCH_OPERAND_SWAPPED;
      block.flags |= GUF_LAUNCH_SWAPPED;
    }
    block.operand_flags[i] = flags;
  }
  block.mask = 0;
  if (call.has_where) {
    block.flags |= GUF_LAUNCH_MASKED;
    block.mask = call.where.layout.address;
  }
}

// Writes the operands, addresses, dtypes, flags, loop dimensions and stride bits of a launch. The
// caller writes the core dimensions.
// Errors  GUF_E_INTERNAL <= the request has more than GUF_MAX_NDIM loop dimensions
guf_status write_loop(const Request &request, Launch *out, guf_error *error) {
  if (__builtin_expect(request.loop.ndim > GUF_MAX_NDIM, 0)) {  // the capacity of `Axes`
    return base::fail(error, GUF_E_INTERNAL, base::kNone, base::kNone,
                      "expected at most %d loop dimensions, got %d", static_cast<int>(GUF_MAX_NDIM),
                      request.loop.ndim);
  }
  Axes axes;
  axes.noperands = request.call.noperands;
  axes.masked = request.call.has_where;
  write_operands(request, out);
  collect(request, &axes);
  if (axes.count > 0) {
    flip_negative(&axes, &out->block);
    if (axes.count > 1) {
      sort(&axes, request.call.ufunc->nin());
      coalesce(&axes);
    }
  }
  for (int32_t i = 0; i < axes.noperands; ++i) {
    uint64_t bits = 0;
    for (int32_t k = 0; k < axes.count; ++k) bits |= static_cast<uint64_t>(axes.step[k][i]);
    out->stride_bits[i] = bits;
  }
  write_dimensions(axes, out);
  return GUF_OK;
}

guf_status make_elementwise(const Request &request, Launch *out, guf_error *error) {
  GUF_TRY(write_loop(request, out, error));
  out->block.ncore = 0;
  out->block.ncorestrides = 0;
  for (int32_t i = 0; i < out->block.noperands; ++i)
    flag_alignment(&out->block, i, out->stride_bits[i]);
  return GUF_OK;
}

// Returns the stride of core axis `axis`, or 0 if it is a broadcast "|1" dimension.
int64_t core_step(const array::Layout &layout, int32_t axis, int64_t size) {
  return layout.shape[axis] == 1 && size != 1 ? 0 : layout.strides[axis];
}

// Returns whether an operand has no elements. Such an operand may have address 0 and arbitrary
// strides, so loops receive strides of 0 and never compute another address.
bool has_no_elements(const array::Layout &layout) {
  return std::find(layout.shape, layout.shape + layout.ndim, 0) != layout.shape + layout.ndim;
}

[[gnu::cold, gnu::noinline]] void stay_in_place(const array::Layout &layout, int32_t operand,
                                                int32_t ncore, Launch *out) {
  guf_launch_block &block = out->block;
  block.address[operand] = layout.address;
  block.step[operand] = 0;
  for (int32_t k = 1; k < block.nloop; ++k) block.outer_step[k - 1][operand] = 0;
  for (int32_t k = 0; k < out->nexcess; ++k) out->excess_step[k][operand] = 0;
  int64_t *const core_steps = block.step + block.noperands + block.ncorestrides;
  std::fill_n(core_steps - ncore, ncore, 0);
  out->stride_bits[operand] = 0;
}

[[gnu::cold, gnu::noinline]] guf_status fail_core(const op::CallView &call, guf_error *error) {
  return base::fail(error, GUF_E_INTERNAL, base::kNone, base::kNone,
                    "%s: expected at most %d core dimensions, %d of them distinct",
                    call.ufunc->name.c_str(), static_cast<int>(GUF_MAX_CORE_STRIDES),
                    static_cast<int>(GUF_MAX_CORE_NAMES));
}

guf_status make_generalized(const Request &request, Launch *out, guf_error *error) {
  const op::Signature &signature = request.call.ufunc->signature;
  const broadcast::LoopShape &loop = request.loop;
  guf_launch_block &block = out->block;
  if (__builtin_expect(signature.dims.size() > GUF_MAX_CORE_NAMES, 0))
    return fail_core(request.call, error);
  GUF_TRY(write_loop(request, out, error));
  block.flags |= GUF_LAUNCH_GENERALIZED;
  block.ncore = static_cast<int32_t>(signature.dims.size());
  for (int32_t dim = 0; dim < block.ncore; ++dim) block.size[1 + dim] = loop.core_size[dim];
  block.ncorestrides = 0;
  for (int32_t i = 0; i < block.noperands; ++i) {
    const auto index = static_cast<size_t>(i);
    const array::Layout &layout = request.call.operand[i].layout;
    int32_t axis = layout.ndim - loop.core_ndim[i];
    block.core_ndim[i] = signature.core_ndim[index];
    if (__builtin_expect(block.core_ndim[i] > GUF_MAX_CORE_STRIDES - block.ncorestrides, 0))
      return fail_core(request.call, error);
    for (int32_t j = 0; j < block.core_ndim[i]; ++j) {
      const int32_t dim =
          signature.operand_dims[static_cast<size_t>(signature.core_offset[index] + j)];
      const bool missing = (loop.missing >> dim & 1U) != 0;
      const int64_t step = missing ? 0 : core_step(layout, axis++, loop.core_size[dim]);
      block.step[block.noperands + block.ncorestrides] = step;
      block.core_name[block.ncorestrides++] = static_cast<uint8_t>(dim);
      if (loop.core_size[dim] > 1) out->stride_bits[i] |= static_cast<uint64_t>(step);
    }
    if (__builtin_expect(has_no_elements(layout), 0))
      stay_in_place(layout, i, block.core_ndim[i], out);
    flag_alignment(&block, i, out->stride_bits[i]);
  }
  return GUF_OK;
}

}  // namespace

guf_status make_launch(const Request &request, Launch *out, guf_error *error) {
  return request.call.ufunc->signature.generalized ? make_generalized(request, out, error)
                                                   : make_elementwise(request, out, error);
}

}  // namespace gufunc::geometry
