// SPDX-License-Identifier: Apache-2.0
// Results of calls and methods: texts, resolutions, allocated arrays.
#ifndef GUFUNC_CPP_UFUNC_RESULTS_HPP
#define GUFUNC_CPP_UFUNC_RESULTS_HPP

#include <gufunc/resolve.h>
#include <gufunc/cpp/array.hpp>

#include <cstring>
#include <string>
#include <vector>

namespace gufunc {
inline namespace GUFUNC_CPP_FORM {

// The loop, dtypes and output shapes that a call or method would use.
struct Resolution {
  uint32_t loop = 0;
  std::vector<DType> loop_types, types;  // one per operand
  std::vector<Ints> output_shapes;
};

namespace detail {

// Returns the text of a C function with the parameters (text, inout_length, error).
template <class Write>
Result<std::string> text_of(Write write) {
  Record record;
  std::string text;
  uint64_t length = 0;
  guf_status status = write(nullptr, &length, record);
  if (status == GUF_E_BUFFER_TOO_SMALL) {
    text.resize(length);
    status = write(&text[0], &length, record);
    if (!text.empty()) text.resize(std::strlen(text.c_str()));
  }
  return result(status, record, [&] { return std::move(text); });
}

// Returns the arrays that were allocated for outputs of kind GUF_OPERAND_NONE, in the order of the
// outputs.
template <class Outputs>
std::vector<Array> allocated(const Outputs &given, COperands &results) {
  std::vector<Array> made;
  int32_t k = 0;
  for (const Operand &output : given) {
    if (output.is_none()) made.emplace_back(results[k].array);
    ++k;
  }
  return made;
}

inline Resolution resolution_of(const guf_resolution &found, int32_t noutputs) {
  Resolution made;
  made.loop = found.loop;
  made.loop_types.assign(found.loop_dtypes, found.loop_dtypes + found.noperands);
  made.types.assign(found.dtypes, found.dtypes + found.noperands);
  for (int32_t k = 0; k < noutputs; ++k)
    made.output_shapes.emplace_back(found.output_shapes[k],
                                    static_cast<size_t>(found.output_ndims[k]));
  return made;
}

inline void set_args(guf_request &request, const guf_call_args &args) {
  request.call = &args;
}
inline void set_args(guf_request &request, const guf_reduce_args &args) {
  request.reduce = &args;
}
inline void set_args(guf_request &request, const guf_accumulate_args &args) {
  request.accumulate = &args;
}
inline void set_args(guf_request &request, const guf_at_args &args) {
  request.at = &args;
}

// Makes a request for `operation` (guf_operation), which borrows the arguments.
template <class Args>
guf_request request_of(int32_t operation, const Args &args) {
  guf_request made = {};
  made.struct_size = sizeof made;
  made.operation = operation;
  set_args(made, args);
  return made;
}

inline Result<Resolution> resolved(guf_ufunc ufunc, const guf_request &request, int32_t noutputs) {
  Record record;
  guf_resolution found = {};
  found.struct_size = sizeof found;
  const guf_status status = guf_resolve(ufunc, &request, &found, record);
  return result(status, record, [&] { return resolution_of(found, noutputs); });
}

inline Result<std::string> explained(guf_ufunc ufunc, const guf_request &request) {
  return text_of([&](char *text, uint64_t *length, guf_error *error) {
    return guf_explain(ufunc, &request, text, length, error);
  });
}

}  // namespace detail

}  // namespace GUFUNC_CPP_FORM
}  // namespace gufunc

#endif  // GUFUNC_CPP_UFUNC_RESULTS_HPP
