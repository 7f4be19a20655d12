// SPDX-License-Identifier: Apache-2.0
// The choice of a loop for the types of a call. Results are cached per combination of types.
#include <algorithm>
#include <cstring>
#include <limits>

#include "core/dtype/time_dtype.h"
#include "core/resolve/loop_search.h"
#include "core/resolve/resolve.h"
#include "core/resolve/unit_search.h"
#include "core/resolve/weak_scalar.h"

namespace gufunc::resolve {
namespace {

using op::CallView;
using op::OperandView;

constexpr int32_t kMaxKeyed = 9;  // maximal number of operands in a key

// PERF. Every call computes a key, so a key is computed from the bits of the
// dtypes, without a table or a branch on the type. Each operand occupies six bits:
// the type code (0..6) and the logarithm of the size. Type code 7 belongs to no
// dtype and marks missing outputs and weak scalars.
constexpr uint64_t type_code(guf_dtype type) {
  return (type & 7U) | static_cast<uint64_t>(__builtin_ctz(dtype::itemsize(type) | 16U)) << 3;
}
constexpr uint64_t kMissingCode = 7;
constexpr uint64_t weak_code(int32_t kind) {
  return 7U | static_cast<uint64_t>(kind - GUF_OPERAND_SCALAR) << 3;
}

// ---- keys of calls with datetime types. An operand occupies eight bits, so these keys are longer
// than all other keys of the ufunc and never equal one of them.

constexpr int32_t kMaxDatetimeOperands = 6;
// A bit that is set in a cached value if the number in the value is an index for UnitLoops::at.
constexpr uint64_t kUnitLoop = uint64_t{1} << 31;

// Returns the code of an operand in a key. Returns 0 if the operand has no code: an int outside
// int64, a structured dtype, or a datetime type with a multiple other than 1.
uint64_t datetime_code(const OperandView &operand) {
  if (is_weak(operand))
    return operand.kind == GUF_OPERAND_WEAK_INT_HUGE ? 0 : 0x40U | weak_code(operand.kind);
  if (op::is_missing(operand)) return 0x40U | kMissingCode;
  const guf_dtype type = operand.layout.dtype;
  if (!dtype::is_extended(type)) return 0x40U | type_code(type);
  const bool plain = dtype::is_time(type) && dtype::multiple(type) == 1;
  return plain ? 0x80U | (type & 1U) << 4 | dtype::unit(type) : 0;
}

[[gnu::noinline]] uint64_t datetime_key_of(const CallView &call, bool *out_plain) {
  if (call.noperands > kMaxDatetimeOperands || call.args->dtype != 0) return 0;
  uint64_t key = 1;
  for (int32_t i = 0; i < call.noperands; ++i) {
    const uint64_t code = datetime_code(call.operand[i]);
    if (code == 0) return 0;
    key = key << 8 | code;
  }
  *out_plain = false;
  return key << 11 | static_cast<uint64_t>(call.casting);
}

// Returns the cache key of a call, or 0 if the call cannot be cached. Sets
// `*out_plain` if every operand already has a dtype.
inline uint64_t key_of(const CallView &call, bool *out_plain) {
  const guf_call_args &args = *call.args;
  if (call.casting == GUF_CASTING_NO) return 0;  // keys do not contain the byte order
  if (call.noperands > kMaxKeyed || args.signature != nullptr || call.nseparate != 0) return 0;
  uint64_t key = 1;
  bool plain = true;
  guf_dtype seen = args.dtype;
  for (int32_t i = 0; i < call.noperands; ++i) {
    const OperandView &operand = call.operand[i];
    uint64_t code = 0;
    if (__builtin_expect(is_weak(operand) || op::is_missing(operand), 0)) {
      if (operand.kind == GUF_OPERAND_WEAK_INT_HUGE) return 0;
      code = is_weak(operand) ? weak_code(operand.kind) : kMissingCode;
      plain = false;
    } else {
      code = type_code(operand.layout.dtype);
      seen |= operand.layout.dtype;
    }
    key = key << 6 | code;
  }
  if (__builtin_expect(dtype::is_extended(seen), 0)) return datetime_key_of(call, out_plain);
  *out_plain = plain;
  key = key << 3 | static_cast<uint64_t>(call.casting);
  if (args.dtype == 0) return key << 6 | kMissingCode;
  return dtype::valid(args.dtype) ? key << 6 | type_code(args.dtype) : 0;
}

// Sets the dtypes of weak scalars and missing outputs to the types of the loop. Stops at the first
// scalar whose value does not fit. The outputs come after all scalars, so the outputs are then
// unchanged. `named` contains the types of signature=, or is nullptr.
guf_status apply(CallView *call, const op::Loop &loop, const guf_dtype *named, guf_error *error) {
  for (int32_t i = 0; i < call->noperands; ++i) {
    OperandView &operand = call->operand[i];
    const guf_dtype type = loop.types[static_cast<size_t>(i)];
    if (is_weak(operand)) {
      const bool is_named = named != nullptr && named[i] != 0;
      GUF_TRY((is_named ? convert_named : convert)(&operand, i, type, error));
    } else if (op::is_missing(operand)) {
      operand.layout.dtype = type;
    }
  }
  return GUF_OK;
}

uint32_t cast_mask_of(const CallView &call, const op::Loop &loop) {
  uint32_t mask = 0;
  for (int32_t i = 0; i < call.noperands; ++i) {
    const OperandView &operand = call.operand[i];
    if (is_weak(operand) || op::is_missing(operand)) continue;
    const guf_dtype type = loop.types[static_cast<size_t>(i)];
    const guf_dtype own = operand.layout.dtype;
    // An output whose dtype has no unit adopts the unit of the loop, as in geometry::make_launch.
    const bool written = call.ufunc->signature.writes(i);
    if ((written ? dtype::resolve_unit(own, type) : own) != type) mask |= 1U << i;
  }
  return mask;
}

// ---- exact comparisons with ints that do not fit the dtype of the other operand

// Returns the dtype to which one side of an exact comparison is converted.
guf_dtype wide_type(const OperandView &operand, bool beyond_integers) {
  if (beyond_integers) return GUF_F64;
  if (operand.kind == GUF_OPERAND_WEAK_INT_HUGE) return GUF_U64;
  return !is_weak(operand) && operand.layout.dtype == GUF_U64 ? GUF_U64 : GUF_I64;
}

// Returns whether the int on side `i` compares like an infinity. This is true if the int is outside
// every integer dtype, or outside the dtype that signature= names for the other side, because the
// other side is first cast to that dtype.
bool is_beyond(const TypeQuery &query, int i) {
  const OperandView &operand = query.call->operand[i];
  if (!is_weak(operand)) return false;
  const bool huge = operand.kind == GUF_OPERAND_WEAK_INT_HUGE;
  return query.fixed[1 - i] != 0 || (huge && (is_saturated(operand) || is_negative_huge(operand)));
}

bool is_negative(const OperandView &operand) {
  return operand.kind == GUF_OPERAND_WEAK_INT_HUGE ? is_negative_huge(operand)
                                                   : operand.value[0] >> 63 != 0;
}

void make_infinite(OperandView *operand) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double value = is_negative(*operand) ? -infinity : infinity;
  std::memcpy(operand->cast_value, &value, sizeof value);
  operand->layout.dtype = GUF_F64;
  operand->layout.address = reinterpret_cast<uint64_t>(operand->cast_value);
}

// Compares exactly, as NumPy does: converts both sides to int64 or uint64, or replaces one side by
// an infinity. `*out_done` stays false if the call does not compare integers or needs no exact
// comparison.
guf_status compare_exactly(CallView *call, const TypeQuery &query, const op::Loop &found,
                           Choice *out, bool *out_done, guf_error *error) {
  OperandView *const sides = call->operand;
  if (!compares_integers(query)) return GUF_OK;
  const bool beyond[2] = {is_beyond(query, 0), is_beyond(query, 1)};
  if (beyond[0] && beyond[1]) return GUF_OK;
  guf_dtype types[2];
  for (int i = 0; i < 2; ++i) {
    if (is_weak(sides[i]) && query.fixed[i] != 0) return GUF_OK;
    types[i] = wide_type(sides[i], beyond[0] || beyond[1]);
  }
  GUF_TRY(check_casts(query, found,
                      query.any_input_fixed ? InputCheck::kAllCasts : InputCheck::kByteOrderOnly,
                      error));
  const op::LoopList &list = query.ufunc->loops();
  for (uint32_t k = 0; k < list.loops.size(); ++k) {
    const op::Loop &loop = *list.loops[k];
    if (loop.types[0] != types[0] || loop.types[1] != types[1]) continue;
    const uint32_t mask = cast_mask_of(*call, loop);
    for (int i = 0; i < 2; ++i) {
      if (beyond[i]) {
        make_infinite(&sides[i]);
      } else if (is_weak(sides[i])) {
        GUF_TRY(convert(&sides[i], i, types[i], error));
      }
    }
    if (op::is_missing(sides[2])) sides[2].layout.dtype = loop.types[2];
    *out = {&loop, k, mask};
    *out_done = true;
    return GUF_OK;
  }
  return GUF_OK;
}

// Chooses a loop by NumPy's rules for datetime types, and then checks the casts as for other calls.
guf_status choose_datetime(CallView *call, TypeQuery *query, uint64_t key, Choice *out,
                           guf_error *error) {
  const op::LoopList &list = call->ufunc->loops();
  DatetimeLoop chosen;
  GUF_TRY(search_datetime(*query, list, &chosen, error));
  const op::Loop *loop = list.loops[chosen.index];
  const int32_t count = call->ufunc->noperands();
  uint64_t number = chosen.index;
  if (!std::equal(chosen.types, chosen.types + count, loop->types.begin())) {
    const op::UnitLoops::Found found =
        call->ufunc->unit_loops().find(*loop, chosen.index, chosen.types, count);
    loop = found.loop;
    if (found.number == op::UnitLoops::kNoNumber) key = 0;
    number = kUnitLoop | found.number;
  }
  const uint32_t mask = cast_mask_of(*call, *loop);
  for (int32_t i = 0; i < count; ++i) {
    query->fixed[i] = GUF_DTYPE_UNSPECIFIED;
    // NumPy treats an int here as a timedelta64 without a unit.
    if (query->weak[i] && dtype::is_timedelta(chosen.types[i]))
      query->operand_dtype[i] = GUF_TIMEDELTA64;
  }
  GUF_TRY(check_int_to_datetime(*query, *loop, error));
  GUF_TRY(apply(call, *loop, nullptr, error));
  // NumPy does not check the casts of isnat, or of the datetime loops of isnan, isinf, isfinite.
  const op::TypeRule rule = call->ufunc->type_rule;
  const bool tests_datetime = rule == op::TypeRule::kIsFinite && dtype::is_time(loop->types[0]);
  if (rule != op::TypeRule::kIsNaT && !tests_datetime) {
    GUF_TRY(check_casts(*query, *loop, InputCheck::kAllCasts, error));
  }
  GUF_TRY(check_units(*query, *loop, error));
  if (key != 0) list.choices.add(key, static_cast<uint64_t>(mask) << 32 | number);
  *out = {loop, chosen.index, mask};
  return GUF_OK;
}

[[gnu::noinline]] guf_status choose_slowly(CallView *call, uint64_t key, Choice *out,
                                           guf_error *error) {
  TypeQuery query;
  GUF_TRY(make_query(*call, &query, error));
  if (has_datetime(query)) return choose_datetime(call, &query, key, out, error);
  const op::LoopList &list = call->ufunc->loops();
  Found found = {};
  GUF_TRY(search(query, list, &found, error));
  const op::Loop &loop = *list.loops[found.index];
  const uint32_t mask = cast_mask_of(*call, loop);
  GUF_TRY(check_weak(query, loop, found.unchecked, error));
  // As in NumPy, scalars are converted before the casts are checked.
  const guf_status applied = apply(call, loop, query.fixed, error);
  if (applied == GUF_E_OVERFLOW) {
    bool done = false;
    GUF_TRY(compare_exactly(call, query, loop, out, &done, error));
    if (done) return GUF_OK;
  }
  GUF_TRY(applied);
  GUF_TRY(check_casts(query, loop, found.unchecked ? InputCheck::kNothing : InputCheck::kAllCasts,
                      error));
  GUF_TRY(check_units(query, loop, error));
  if (key != 0) list.choices.add(key, static_cast<uint64_t>(mask) << 32 | found.index);
  *out = {&loop, found.index, mask};
  return GUF_OK;
}

}  // namespace

guf_status choose(CallView &call, Choice *out, guf_error *error) {
  if (__builtin_expect(call.ufunc->nin() == 1 && is_weak(call.operand[0]), 0)) {
    GUF_TRY(convert_to_default(&call.operand[0], 0, error));
  }
  bool plain = true;
  const uint64_t key = key_of(call, &plain);
  const op::LoopList &list = call.ufunc->loops();
  uint64_t value = 0;
  if (__builtin_expect(key == 0 || !list.choices.find(key, &value), 0)) {
    return choose_slowly(&call, key, out, error);
  }
  const auto number = static_cast<uint32_t>(value);
  const auto mask = static_cast<uint32_t>(value >> 32);
  if (plain) {
    *out = {list.loops[number], number, mask};
    return GUF_OK;
  }
  const bool has_units = (value & kUnitLoop) != 0;
  const op::Loop &loop =
      has_units ? call.ufunc->unit_loops().at(number & ~static_cast<uint32_t>(kUnitLoop))
                : *list.loops[number];
  // A value that does not fit the dtype of the loop may still be compared exactly. The slow path
  // tries the exact comparison, and otherwise reports the error.
  const guf_status applied = apply(&call, loop, nullptr, nullptr);
  if (applied != GUF_OK) return choose_slowly(&call, 0, out, error);
  *out = {&loop, has_units ? loop.general_index : number, mask};
  return GUF_OK;
}

}  // namespace gufunc::resolve
