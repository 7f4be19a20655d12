// SPDX-License-Identifier: Apache-2.0
// guf_resolve and guf_explain. Each function unpacks a request and calls the core function for the
// requested operation.
#include <gufunc/resolve.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "abi/src/capi.h"
#include "abi/src/text_out.h"
#include "abi/src/unpack_call.h"
#include "core/base/struct_size.h"
#include "core/call/pipeline.h"
#include "core/plan/prepared_plan.h"

using namespace gufunc;

namespace {

// A guf_resolution that the core fills and that is then copied to the caller.
// PERF  The array of 32 shapes with 64 dimensions has 16 KB. A typical result uses a few bytes of
//       it. Clearing and copying the whole array took four times as long as the resolution itself.
class Resolution {
 public:
  // Leaves the shapes uninitialised.
  Resolution() { std::memset(&value_, 0, kShapes); }

  guf_resolution *get() { return &value_; }

  void copy_to(guf_resolution *out) const {
    const uint32_t size = out->struct_size;
    std::memcpy(out, &value_, kShapes);
    out->struct_size = size;
    // There are at most as many outputs as operands.
    for (int32_t k = 0; k < value_.noperands; ++k) {
      std::copy_n(value_.output_shapes[k], value_.output_ndims[k], out->output_shapes[k]);
    }
    if (size > sizeof value_) {
      std::memset(reinterpret_cast<char *>(out) + sizeof value_, 0, size - sizeof value_);
    }
  }

 private:
  static constexpr size_t kShapes = offsetof(guf_resolution, output_shapes);
  guf_resolution value_;
};

// Selects one of the core's two functions for a request: `resolve` fills a guf_resolution, and
// `explain` fills a text.
template <class Answer, class Resolve, class Explain>
auto select(Resolve resolve, Explain explain) {
  if constexpr (std::is_same_v<Answer, guf_resolution>) {
    return resolve;
  } else {
    return explain;
  }
}

// Each of the functions below resolves or explains one kind of request. They are not inlined,
// because each of them has views of up to 60 KB on its stack.
template <class Answer>
[[gnu::noinline]] guf_status answer_call(guf_ufunc ufunc, const guf_call_args *args, Answer *out,
                                         guf_error *error) {
  guf_call_args buffer;
  op::CallView call;
  GUF_TRY(capi::unpack_call(ufunc, args, &buffer, &call, error));
  return select<Answer>(call::resolve, plan::PreparedPlan::explain)(call, out, error);
}

template <class Answer>
[[gnu::noinline]] guf_status answer_outer(guf_ufunc ufunc, const guf_call_args *args, Answer *out,
                                          guf_error *error) {
  guf_call_args buffer;
  op::CallView call;
  GUF_TRY(base::find_object(ufunc, "ufunc", &call.ufunc, error));
  GUF_TRY(method::check_outer(*call.ufunc, error));
  GUF_TRY(capi::unpack_call(ufunc, args, &buffer, &call, error));
  return select<Answer>(method::resolve_outer, method::explain_outer)(call, out, error);
}

template <class Answer>
[[gnu::noinline]] guf_status answer_reduce(guf_ufunc ufunc, const guf_reduce_args *args,
                                           Answer *out, guf_error *error) {
  guf_operand *results = nullptr;
  method::ReduceView view;
  GUF_TRY(capi::unpack_reduce(ufunc, args, &view, &results, error));
  if (view.call.ufunc->state_reduction() == nullptr) {
    return select<Answer>(method::resolve_reduce, method::explain_reduce)(view, out, error);
  }
  method::StateResults states;
  GUF_TRY(capi::unpack_results(view, results, &states, error));
  return select<Answer>(method::resolve_states, method::explain_states)(view, states, out, error);
}

template <class Answer>
[[gnu::noinline]] guf_status answer_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args,
                                               bool with_indices, Answer *out, guf_error *error) {
  guf_operand *output = nullptr;
  method::ReduceView view;
  GUF_TRY(capi::unpack_accumulate(ufunc, args, with_indices, &view, &output, error));
  return with_indices
             ? select<Answer>(method::resolve_reduceat, method::explain_reduceat)(view, out, error)
             : select<Answer>(method::resolve_accumulate, method::explain_accumulate)(view, out,
                                                                                      error);
}

template <class Answer>
[[gnu::noinline]] guf_status answer_at(guf_ufunc ufunc, const guf_at_args *args, Answer *out,
                                       guf_error *error) {
  method::AtView view;
  GUF_TRY(capi::unpack_at(ufunc, args, &view, error));
  return select<Answer>(method::resolve_at, method::explain_at)(view, out, error);
}

template <class Answer>
guf_status answer(guf_ufunc ufunc, const guf_request *given, Answer *out, guf_error *error) {
  guf_request buffer;
  const guf_request *request = nullptr;
  GUF_TRY(base::read_struct(given, "request", &buffer, &request, error));
  switch (request->operation) {
    case GUF_OPERATION_CALL:
      GUF_TRY(capi::need(request->call, "request->call", error));
      return answer_call(ufunc, request->call, out, error);
    case GUF_OPERATION_OUTER:
      GUF_TRY(capi::need(request->call, "request->call", error));
      return answer_outer(ufunc, request->call, out, error);
    case GUF_OPERATION_REDUCE:
      GUF_TRY(capi::need(request->reduce, "request->reduce", error));
      return answer_reduce(ufunc, request->reduce, out, error);
    case GUF_OPERATION_ACCUMULATE:
    case GUF_OPERATION_REDUCEAT:
      GUF_TRY(capi::need(request->accumulate, "request->accumulate", error));
      return answer_accumulate(ufunc, request->accumulate,
                               request->operation == GUF_OPERATION_REDUCEAT, out, error);
    case GUF_OPERATION_AT:
      GUF_TRY(capi::need(request->at, "request->at", error));
      return answer_at(ufunc, request->at, out, error);
    default:
      return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                        "request->operation: expected a guf_operation, got %d", request->operation);
  }
}

}  // namespace

guf_status guf_resolve(guf_ufunc ufunc, const guf_request *request, guf_resolution *out_resolution,
                       guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(base::check_struct(out_resolution, "out_resolution", base::kFirstSize<guf_resolution>,
                               base::kMaxStructSize, error));
    Resolution resolution;
    GUF_TRY(answer(ufunc, request, resolution.get(), error));
    resolution.copy_to(out_resolution);
    return GUF_OK;
  });
}

guf_status guf_explain(guf_ufunc ufunc, const guf_request *request, char *text,
                       uint64_t *inout_length, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(inout_length, "inout_length", error));
    if (*inout_length > 0) GUF_TRY(capi::need(text, "text", error));
    std::string explanation;
    GUF_TRY(answer(ufunc, request, &explanation, error));
    const uint64_t capacity = std::exchange(*inout_length, explanation.size() + 1);
    return capi::hand_out(explanation, text, capacity, error);
  });
}
