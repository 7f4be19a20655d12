// SPDX-License-Identifier: Apache-2.0
// C API layer of queries about methods: guf_resolve_reduce,
// guf_explain_reduce and similar functions.
#include <gufunc/methods.h>

#include <string>

#include "abi/src/capi.h"
#include "abi/src/explain.h"
#include "abi/src/resolution.h"
#include "abi/src/unpack_call.h"
#include "abi/src/unpack_method.h"
#include "core/base/struct_size.h"

using namespace gufunc;

namespace {

// unpack(&view) fills a view of the arguments. query(view, &result, error) writes the result of the
// query.
template <class View, class Unpack, class Query>
guf_status resolve_with(guf_resolution *out_resolution, guf_error *error, Unpack unpack,
                        Query query) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(base::check_struct(out_resolution, "out_resolution", base::kFirstSize<guf_resolution>,
                               base::kMaxStructSize, error));
    View view;
    GUF_TRY(unpack(&view));
    capi::Resolution resolution;
    GUF_TRY(query(view, resolution.get(), error));
    return resolution.copy_to(out_resolution, error);
  });
}

// Returns a query that calls `states` for a ufunc with a user-defined
// accumulator, otherwise `plain`.
template <class Answer, class States, class Plain>
auto reduce_query(guf_operand **results, States states, Plain plain) {
  return [=](method::FoldView &view, Answer *out, guf_error *error) -> guf_status {
    if (view.call.ufunc->state_fold() == nullptr) return plain(view, out, error);
    method::StateResults given;
    GUF_TRY(capi::unpack_results(*view.call.ufunc, *results, &given, error));
    return states(view, given, out, error);
  };
}

auto unpack_reduce(guf_ufunc ufunc, const guf_reduce_args *args, guf_operand **results,
                   guf_error *error) {
  return [=](method::FoldView *view) {
    return capi::unpack_reduce(ufunc, args, view, results, error);
  };
}

auto unpack_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args, bool with_indices,
                       guf_error *error) {
  return [=](method::FoldView *view) {
    guf_operand *output = nullptr;
    return capi::unpack_accumulate(ufunc, args, with_indices, view, &output, error);
  };
}

auto unpack_at(guf_ufunc ufunc, const guf_at_args *args, guf_error *error) {
  return [=](method::AtView *view) { return capi::unpack_at(ufunc, args, view, error); };
}

// Callers provide `buffer` for a copy of `args`, which is used
// if the program's struct is older and shorter.
auto unpack_outer(guf_ufunc ufunc, const guf_call_args *args, guf_call_args *buffer,
                  guf_error *error) {
  return [=](op::CallView *call) -> guf_status {
    GUF_TRY(base::find_object(ufunc, "ufunc", &call->ufunc, error));
    GUF_TRY(method::check_outer(*call->ufunc, error));
    return capi::unpack_call(ufunc, args, buffer, call, error);
  };
}

}  // namespace

guf_status guf_resolve_reduce(guf_ufunc ufunc, const guf_reduce_args *args,
                              guf_resolution *out_resolution, guf_error *error) {
  guf_operand *results = nullptr;
  return resolve_with<method::FoldView>(
      out_resolution, error, unpack_reduce(ufunc, args, &results, error),
      reduce_query<guf_resolution>(&results, method::resolve_states, method::resolve_reduce));
}

guf_status guf_resolve_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args,
                                  guf_resolution *out_resolution, guf_error *error) {
  return resolve_with<method::FoldView>(out_resolution, error,
                                        unpack_accumulate(ufunc, args, false, error),
                                        method::resolve_accumulate);
}

guf_status guf_resolve_reduceat(guf_ufunc ufunc, const guf_accumulate_args *args,
                                guf_resolution *out_resolution, guf_error *error) {
  return resolve_with<method::FoldView>(
      out_resolution, error, unpack_accumulate(ufunc, args, true, error), method::resolve_reduceat);
}

guf_status guf_resolve_outer(guf_ufunc ufunc, const guf_call_args *args,
                             guf_resolution *out_resolution, guf_error *error) {
  guf_call_args buffer;
  return resolve_with<op::CallView>(
      out_resolution, error, unpack_outer(ufunc, args, &buffer, error), method::resolve_outer);
}

guf_status guf_resolve_at(guf_ufunc ufunc, const guf_at_args *args, guf_resolution *out_resolution,
                          guf_error *error) {
  return resolve_with<method::AtView>(out_resolution, error, unpack_at(ufunc, args, error),
                                      method::resolve_at);
}

guf_status guf_explain_reduce(guf_ufunc ufunc, const guf_reduce_args *args, char *text,
                              uint64_t *inout_length, guf_error *error) {
  guf_operand *results = nullptr;
  return capi::explain<method::FoldView>(
      text, inout_length, error, unpack_reduce(ufunc, args, &results, error),
      reduce_query<std::string>(&results, method::explain_states, method::explain_reduce));
}

guf_status guf_explain_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args, char *text,
                                  uint64_t *inout_length, guf_error *error) {
  return capi::explain<method::FoldView>(text, inout_length, error,
                                         unpack_accumulate(ufunc, args, false, error),
                                         method::explain_accumulate);
}

guf_status guf_explain_reduceat(guf_ufunc ufunc, const guf_accumulate_args *args, char *text,
                                uint64_t *inout_length, guf_error *error) {
  return capi::explain<method::FoldView>(text, inout_length, error,
                                         unpack_accumulate(ufunc, args, true, error),
                                         method::explain_reduceat);
}

guf_status guf_explain_outer(guf_ufunc ufunc, const guf_call_args *args, char *text,
                             uint64_t *inout_length, guf_error *error) {
  guf_call_args buffer;
  return capi::explain<op::CallView>(
      text, inout_length, error, unpack_outer(ufunc, args, &buffer, error), method::explain_outer);
}

guf_status guf_explain_at(guf_ufunc ufunc, const guf_at_args *args, char *text,
                          uint64_t *inout_length, guf_error *error) {
  return capi::explain<method::AtView>(text, inout_length, error, unpack_at(ufunc, args, error),
                                       method::explain_at);
}
