// SPDX-License-Identifier: Apache-2.0
// Calls the function of a method and reports the failure of its loop.
#include "backends/cpu/methods/method_run.h"

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/loops/cpu_launch.h"
#include "backends/cpu/methods/method_share.h"

namespace gufunc::cpu {
namespace {

constexpr uint32_t kKnownMethodFlags = GUF_METHOD_TREE | GUF_METHOD_ANY_THREAD | GUF_METHOD_STATUS |
                                       GUF_METHOD_MASKED | GUF_METHOD_INITIAL | GUF_METHOD_EXACT |
                                       GUF_METHOD_MIXED | GUF_METHOD_ERROR;

guf_status run(const guf_backend_method &method, const Fold &fold, MethodTraversal *traversal,
               guf_error *error) {
  switch (method.block->method) {
    case GUF_METHOD_REDUCE:
      if ((method.block->flags & GUF_METHOD_MIXED) != 0)
        return reduce_mixed(method, fold, traversal);
      return reduce(method, fold, traversal);
    case GUF_METHOD_ACCUMULATE:
      return accumulate(method, fold, traversal);
    case GUF_METHOD_REDUCEAT:
      return reduceat(method, fold, traversal);
    case GUF_METHOD_AT:
      return at(method, fold, traversal);
    default:
      return fail(error, GUF_E_UNSUPPORTED, kNone, kNone, "method %d is not known to this plugin",
                  method.block->method);
  }
}

guf_status fail_casts(const guf_method_block &block, guf_error *error) {
  return fail(error, GUF_E_DTYPE, kNone, kNone,
              "no casts between dtypes 0x%x, 0x%x and 0x%x of a method",
              static_cast<unsigned>(block.input_dtype), static_cast<unsigned>(block.loop_dtype),
              static_cast<unsigned>(block.output_dtype));
}

// Runs a method and records the cost of its loop. Assumes that all threads that could share the
// work were busy.
guf_status run_measured(const guf_backend_method &method, const Fold &fold, guf_error *error) {
  const uint64_t work = work_of(*method.block);
  LoopCost cost(method.kernel, method.user);
  const uint64_t weight = cost.weigh(work);
  if (cost.is_known() && weight < kTimedWork && !is_sample()) {
    return run(method, fold, nullptr, error);
  }
  const Stopwatch stopwatch;
  GUF_BACKEND_TRY(run(method, fold, nullptr, error));
  const uint32_t threads = method_threads(method, weigh(method, work));
  cost.record(work, stopwatch.ns() * threads);
  return GUF_OK;
}

guf_status run_with(const guf_backend_method &method, FpStatus *fp_status, guf_error *error) {
  LoopFailure failure;
  const Fold fold(method, &failure, fp_status);
  switch (const guf_status status = run_measured(method, fold, error)) {
    case kLoopFailed:
      return failure.report(method.failure, error);
    case GUF_E_NO_MEMORY:
      return fail(error, status, kNone, kNone, "no scratch memory for a method of a ufunc");
    case GUF_E_DTYPE:
      return fail_casts(*method.block, error);
    default:
      return status;
  }
}

// Describes one step, X op Y -> X, as a launch. In a tree with a fold entry,
// the operands have the type of partial results.
void describe_step(const guf_backend_method &method, guf_launch_block *step) {
  const guf_method_block &block = *method.block;
  const bool unary = block.method == GUF_METHOD_AT && block.input == 0;
  const bool tree = block.method == GUF_METHOD_REDUCE || block.method == GUF_METHOD_REDUCEAT;
  step->nin = unary ? 1 : 2;
  step->noperands = step->nin + 1;
  for (int i = 0; i < step->noperands; ++i) {
    step->loop_dtype[i] = block.loop_dtype;
    if (tree) step->loop_dtype[i] = Fold(method, nullptr, nullptr).partial_dtype();
    step->operand_flags[i] = i < step->nin ? GUF_LAUNCH_OPERAND_READ : GUF_LAUNCH_OPERAND_WRITTEN;
  }
  if ((block.flags & GUF_METHOD_MIXED) != 0) step->loop_dtype[1] = block.element_dtype;
}

[[gnu::noinline]] guf_status run_with_fp_status(const guf_backend_method &method,
                                                guf_error *error) {
  guf_launch_block step = {};
  describe_step(method, &step);
  FpStatus fp_status(step, *method.fp_status);
  const guf_status status = run_with(method, &fp_status, error);
  return status != GUF_OK ? status : fp_status.finish(error);
}

}  // namespace

uint64_t work_of(const guf_method_block &block) {
  uint64_t work = block.items;
  for (int d = 0; d < block.nfold; ++d) {
    work = saturating_mul(work, static_cast<uint64_t>(block.fold_size[d]));
  }
  if (block.method == GUF_METHOD_AT)
    work = saturating_mul(work, static_cast<uint64_t>(block.nindices));
  return work;
}

guf_status check_flags(const guf_method_block &block, guf_error *error) {
  const uint32_t unknown = block.flags & ~kKnownMethodFlags;
  if (__builtin_expect(unknown == 0, 1)) return GUF_OK;
  return fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
              "method flags: 0x%x is not known to this plugin", unknown);
}

guf_status decide_method(const guf_backend_method &method, MethodTraversal *out, guf_error *error) {
  GUF_BACKEND_TRY(check_flags(*method.block, error));
  guf_launch_block step = {};
  const guf_fp_status none = {};
  const bool exact = (method.block->flags & GUF_METHOD_EXACT) != 0;
  // Only the existence of a request for floating-point flags influences the traversal, not the
  // flags.
  FpStatus fp_status(step, none);
  const Fold fold(method, nullptr, method.fp_status != nullptr && !exact ? &fp_status : nullptr);
  const guf_status status = run(method, fold, out, error);
  return status == GUF_E_DTYPE ? fail_casts(*method.block, error) : status;
}

guf_status execute_method(const guf_backend_method &method, guf_error *error) {
  // Integer reductions by a tree may combine elements in any order and raise no floating-point
  // flags, so their steps are not examined.
  const bool exact = (method.block->flags & GUF_METHOD_EXACT) != 0;
  if (__builtin_expect(method.fp_status != nullptr, 0) && !exact)
    return run_with_fp_status(method, error);
  return run_with(method, nullptr, error);
}

}  // namespace gufunc::cpu
