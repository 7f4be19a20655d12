// SPDX-License-Identifier: Apache-2.0
// Wraps guf_resolve and guf_explain in one function per operation. Each function accepts the
// arguments of its operation instead of a guf_request.
#ifndef GUFUNC_TESTS_SUPPORT_REQUESTS_H
#define GUFUNC_TESTS_SUPPORT_REQUESTS_H

#include <gufunc/resolve.h>

namespace requests {

inline guf_request make_request(int32_t operation) {
  guf_request request = {};
  request.struct_size = sizeof request;
  request.operation = operation;
  return request;
}

inline guf_status resolve_call(guf_ufunc ufunc, const guf_call_args *args, guf_resolution *out,
                               guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_CALL);
  request.call = args;
  return guf_resolve(ufunc, &request, out, error);
}

inline guf_status explain_call(guf_ufunc ufunc, const guf_call_args *args, char *text,
                               uint64_t *inout_length, guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_CALL);
  request.call = args;
  return guf_explain(ufunc, &request, text, inout_length, error);
}

inline guf_status resolve_outer(guf_ufunc ufunc, const guf_call_args *args, guf_resolution *out,
                                guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_OUTER);
  request.call = args;
  return guf_resolve(ufunc, &request, out, error);
}

inline guf_status explain_outer(guf_ufunc ufunc, const guf_call_args *args, char *text,
                                uint64_t *inout_length, guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_OUTER);
  request.call = args;
  return guf_explain(ufunc, &request, text, inout_length, error);
}

inline guf_status resolve_reduce(guf_ufunc ufunc, const guf_reduce_args *args, guf_resolution *out,
                                 guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_REDUCE);
  request.reduce = args;
  return guf_resolve(ufunc, &request, out, error);
}

inline guf_status explain_reduce(guf_ufunc ufunc, const guf_reduce_args *args, char *text,
                                 uint64_t *inout_length, guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_REDUCE);
  request.reduce = args;
  return guf_explain(ufunc, &request, text, inout_length, error);
}

inline guf_status resolve_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args,
                                     guf_resolution *out, guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_ACCUMULATE);
  request.accumulate = args;
  return guf_resolve(ufunc, &request, out, error);
}

inline guf_status explain_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args, char *text,
                                     uint64_t *inout_length, guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_ACCUMULATE);
  request.accumulate = args;
  return guf_explain(ufunc, &request, text, inout_length, error);
}

inline guf_status resolve_reduceat(guf_ufunc ufunc, const guf_accumulate_args *args,
                                   guf_resolution *out, guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_REDUCEAT);
  request.accumulate = args;
  return guf_resolve(ufunc, &request, out, error);
}

inline guf_status explain_reduceat(guf_ufunc ufunc, const guf_accumulate_args *args, char *text,
                                   uint64_t *inout_length, guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_REDUCEAT);
  request.accumulate = args;
  return guf_explain(ufunc, &request, text, inout_length, error);
}

inline guf_status resolve_at(guf_ufunc ufunc, const guf_at_args *args, guf_resolution *out,
                             guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_AT);
  request.at = args;
  return guf_resolve(ufunc, &request, out, error);
}

inline guf_status explain_at(guf_ufunc ufunc, const guf_at_args *args, char *text,
                             uint64_t *inout_length, guf_error *error) {
  guf_request request = make_request(GUF_OPERATION_AT);
  request.at = args;
  return guf_explain(ufunc, &request, text, inout_length, error);
}

}  // namespace requests

#endif  // GUFUNC_TESTS_SUPPORT_REQUESTS_H
