// SPDX-License-Identifier: Apache-2.0
// The steps of a call. The plain case (all operands passed, no overlap, a null stream) allocates
// nothing and takes no lock. All other cases are in separate functions.
#include "core/call/pipeline.h"

#include <gufunc/float_control.hpp>

#include <algorithm>

#include "core/backend/backend.h"
#include "core/base/caller_state.h"
#include "core/call/placement.h"
#include "core/call/requested_fp_flags.h"
#include "core/call/separate_outputs.h"
#include "core/call/temporaries.h"
#include "core/validate/validate_call.h"

namespace gufunc::call {
namespace {

using base::kNone;

bool has_missing(const op::CallView &call) {
  for (int32_t i = call.ufunc->nin(); i < call.noperands; ++i) {
    if (op::is_missing(call.operand[i])) return true;
  }
  return false;
}

// Returns whether scalars must outlive the call, because queued work reads them in place. For a
// device with its own memory, the scalars are copied with the launch instead.
bool outlives_call(const op::CallView &call) {
  return call.stream != nullptr && call.device->host_memory;
}

// Launches a host function of the program or a driver's kernel. Either one may reach a cancellation
// point or change the floating-point control.
[[gnu::noinline]] guf_status launch_foreign(const op::CallView &call,
                                            const broadcast::LoopShape &loop,
                                            const resolve::Choice &choice, guf_error *error) {
  const base::CallerState kept;
  const guf_status status = launch(call, loop, choice, nullptr, error);
  ensure_default_float_control();
  return status;
}

// Launches on the prepared arrays, writes results back, retains the arrays until the stream's work
// is done, and publishes new outputs.
guf_status finish(const op::CallView &call, const broadcast::LoopShape &loop,
                  const resolve::Choice &choice, void *kernel, Temporaries *arrays,
                  guf_operand *outputs, guf_error *error) {
  guf_status status = launch(call, loop, choice, kernel, error);
  FpFailure failure(error);
  status = failure.keep(status);
  if (status == GUF_OK) status = failure.keep(arrays->write_back(failure.error()));
  if (status == GUF_OK) status = failure.keep(arrays->close(failure.error()));
  if (status == GUF_OK) status = failure.status();
  arrays->retain_until_done();
  if (status == GUF_OK) arrays->publish(outputs);
  return status;
}

// Runs a call that needs temporary arrays.
[[gnu::noinline]] guf_status launch_with_arrays(op::CallView &call, broadcast::LoopShape *loop,
                                                const resolve::Choice &choice,
                                                const OverlapCopies *copies, guf_operand *outputs,
                                                guf_error *error) {
  const base::CallerState kept;
  backend::ErrorRecord record(error);
  Temporaries arrays(call);
  GUF_TRY(arrays.open(record.get()));
  GUF_TRY(arrays.allocate_outputs(loop, record.get()));
  if (loop->items != 0) {
    const bool overwrites = overwrites_first(call, choice, *loop);
    GUF_TRY(arrays.make_copies(Staging::of_call(call, choice, copies, overwrites), *loop,
                               record.get()));
    if (outlives_call(call)) GUF_TRY(arrays.copy_scalars_to_device(record.get()));
  }
  return finish(call, *loop, choice, nullptr, &arrays, outputs, record.get());
}

// Runs a call with separate outputs (see separate_outputs.h).
[[gnu::noinline]] guf_status call_into_separate(op::CallView &call, guf_operand *outputs,
                                                guf_error *error) {
  const base::CallerState kept;
  backend::ErrorRecord record(error);
  resolve::Choice choice;
  broadcast::LoopShape loop;
  Temporaries arrays(call);
  SeparateOutputs separate(call, &arrays);
  GUF_TRY(decide(call, {AutoOffload::kWhole, &separate}, &choice, &loop, record.get()));
  void *kernel = nullptr;  // looked up before anything is written
  GUF_TRY(backend::load_kernel(*call.ufunc, *choice.loop, *call.device, &kernel, record.get()));
  GUF_TRY(arrays.open(record.get()));
  if (loop.items != 0) {
    const bool overwrites = overwrites_first(call, choice, loop);
    GUF_TRY(arrays.make_copies(Staging::of_call(call, choice, nullptr, overwrites), loop,
                               record.get()));
    GUF_TRY(separate.load(loop, record.get()));
  }
  if (outlives_call(call)) GUF_TRY(arrays.copy_scalars_to_device(record.get()));
  return finish(call, loop, choice, kernel, &arrays, outputs, record.get());
}

// Waits for the stream if a value rule reads its operand from memory, because earlier work of the
// stream may still write the operand.
void wait_for_sizes(const op::CallView &call) {
  for (const op::DimRule &rule : call.ufunc->signature.rules) {
    if (rule.kind != op::DimRule::Kind::kValue) continue;
    if ((call.operand[rule.operand].flags & op::kScalar) == 0) backend::wait_quietly(*call.stream);
  }
}

}  // namespace

guf_status decide(op::CallView &call, const DecideOptions &options, resolve::Choice *choice,
                  broadcast::LoopShape *loop, guf_error *error) {
  SeparateOutputs *const separate = options.separate;
  if (__builtin_expect(separate != nullptr, 0)) separate->mark();
  GUF_TRY(validate::check_operands(call, error));
  GUF_TRY(place(call, error));
  GUF_TRY(resolve::choose(call, choice, error));
  if (__builtin_expect(separate != nullptr, 0)) GUF_TRY(separate->redirect(choice, error));
  if (__builtin_expect(call.stream != nullptr && !call.ufunc->signature.rules.empty(), 0))
    wait_for_sizes(call);
  GUF_TRY(broadcast::broadcast_operands(call, loop, error));
  if (__builtin_expect(call.automatic == nullptr, 1)) return GUF_OK;
  const base::CallerState kept;
  return decide_auto_placement(call, *choice, *loop, options.auto_offload, error);
}

guf_status run(backend::Device &device, backend::Stream *stream, void *kernel, const op::Loop &loop,
               uint32_t threads, const guf_fp_status *fp_status, geometry::Launch *launch,
               guf_error *error) {
  backend::ErrorRecord record(error);
  FpFailure failure(record.get());
  guf_launch_block &block = launch->block;
  int64_t index[geometry::kMaxExcess];
  std::fill_n(index, launch->nexcess, 0);
  for (;;) {
    GUF_TRY(failure.keep(
        backend::launch(device, stream, kernel, loop, threads, block, fp_status, failure.error())));
    int32_t k = 0;
    for (; k < launch->nexcess; ++k) {
      const bool carry = ++index[k] == launch->excess_size[k];
      const int64_t steps = carry ? 1 - launch->excess_size[k] : 1;
      for (int32_t i = 0; i < block.noperands; ++i) {
        block.address[i] += static_cast<uint64_t>(steps * launch->excess_step[k][i]);
      }
      block.mask += static_cast<uint64_t>(steps * launch->excess_mask_step[k]);
      if (!carry) break;
      index[k] = 0;
    }
    if (k == launch->nexcess) return failure.status();
  }
}

guf_status launch(const op::CallView &call, const broadcast::LoopShape &loop,
                  const resolve::Choice &choice, void *kernel, guf_error *error) {
  if (loop.items == 0) return GUF_OK;
  if (kernel == nullptr) {
    GUF_TRY(backend::load_kernel(*call.ufunc, *choice.loop, *call.device, &kernel, error));
  }
  geometry::Launch geometry;
  GUF_TRY(geometry::make_launch({call, loop, choice}, &geometry, error));
  guf_fp_status fp_status;
  const bool has_fp_status = requests_fp_flags(call);
  if (__builtin_expect(has_fp_status, 0))
    GUF_TRY(make_fp_status(call, GUF_BACKEND_FP_FLAGS, &fp_status, error));
  return run(*call.device, call.stream, kernel, *choice.loop, call.args->options.threads,
             has_fp_status ? &fp_status : nullptr, &geometry, error);
}

guf_status call(op::CallView &call, guf_operand *outputs, guf_error *error) {
  resolve::Choice choice;
  broadcast::LoopShape loop;
  if (call.nseparate != 0) return call_into_separate(call, outputs, error);
  GUF_TRY(decide(call, {AutoOffload::kWhole}, &choice, &loop, error));
  OverlapCopies copies;
  const bool overlaps = find_overlaps(call, &copies);
  if (!overlaps && call.stream == nullptr && !has_missing(call) &&
      call.host_copies == op::HostCopies::kNone &&
      (call.device->host_memory || !waits_for_host(call)) &&
      !(call.ufunc->signature.generalized && overwrites_first(call, choice, loop))) {
    if (__builtin_expect(is_host_function(*choice.loop) || !call.device->host_memory, 0)) {
      return launch_foreign(call, loop, choice, error);
    }
    return launch(call, loop, choice, nullptr, error);
  }
  return launch_with_arrays(call, &loop, choice, overlaps ? &copies : nullptr, outputs, error);
}

guf_status resolve(op::CallView &call, guf_resolution *out, guf_error *error) {
  resolve::Choice choice;
  broadcast::LoopShape loop;
  SeparateOutputs separate(call, nullptr);
  GUF_TRY(decide(call, {AutoOffload::kNever, &separate}, &choice, &loop, error));
  const int32_t nin = call.ufunc->nin();
  out->loop = choice.index;
  out->noperands = call.noperands;
  out->reserved = 0;
  for (int32_t i = 0; i < call.noperands; ++i) {
    out->loop_dtypes[i] = choice.loop->types[static_cast<size_t>(i)];
    out->dtypes[i] = call.operand[i].layout.dtype;
    if (i < nin) continue;
    GUF_TRY(broadcast::caller_shape(call, loop, i, &out->output_ndims[i - nin],
                                    out->output_shapes[i - nin], error));
  }
  separate.describe(out);
  return GUF_OK;
}

}  // namespace gufunc::call
