// SPDX-License-Identifier: Apache-2.0
// Provides functions that run one call directly, as a plan or in chunks, and functions that check
// the reports of guf_resolve and guf_explain for the call.
#ifndef GUFUNC_TESTS_UNIT_METHOD_CALL_VARIANTS_H
#define GUFUNC_TESTS_UNIT_METHOD_CALL_VARIANTS_H

#include <utility>

#include "tests/support/requests.h"
#include "tests/unit/method/guarded_arrays.h"

namespace gufunc {

inline guf_error fresh_error() {
  return {sizeof(guf_error), 0, 0, 0, 0, 0, {}};
}

using CallFunction = guf_status (*)(guf_ufunc, guf_call_args *, guf_error *);

// Runs the call as a plan whose workspace ends at an inaccessible page.
inline guf_status run_plan(guf_ufunc ufunc, guf_call_args *args, guf_error *error) {
  guf_plan plan = nullptr;
  uint64_t nbytes = 0, alignment = 0;
  guf_status status = guf_plan_create(ufunc, args, &plan, error);
  if (status != GUF_OK) return status;
  status = guf_plan_workspace(plan, &nbytes, &alignment, error);
  GuardedPage page;
  EXPECT_LE(nbytes, 4096U);
  std::vector<uint64_t> addresses;
  for (int32_t i = 0; i < args->ninputs; ++i) addresses.push_back(args->inputs[i].tensor->address);
  for (int32_t i = 0; i < args->noutputs; ++i)
    addresses.push_back(args->outputs[i].tensor->address);
  if (args->where != nullptr) addresses.push_back(args->where->tensor->address);
  if (status == GUF_OK) {
    const auto workspace = reinterpret_cast<uint64_t>(page.place(nbytes, true));
    status = guf_plan_launch(plan, nullptr, static_cast<int32_t>(addresses.size()),
                             addresses.data(), nbytes == 0 ? 0 : workspace, error);
  }
  guf_plan_release(plan, nullptr);
  return status;
}

// Runs the call in chunks of two float64 elements. Cancels the call after the first chunk and then
// resumes it.
inline guf_status run_in_chunks(guf_ufunc ufunc, guf_call_args *args, guf_error *error) {
  bool stop = true;
  guf_chunk_options options = {};
  options.struct_size = sizeof options;
  options.chunk_bytes = 16;
  options.user = &stop;
  options.progress = [](void *user, int64_t done, int64_t items) {
    EXPECT_TRUE(0 <= done && done <= items) << done << " of " << items;
    return int32_t{std::exchange(*static_cast<bool *>(user), false)};
  };
  guf_status status = guf_call_chunked(ufunc, args, &options, &options.first_item, error);
  if (status == GUF_E_CANCELLED)
    status = guf_call_chunked(ufunc, args, &options, &options.first_item, error);
  return status;
}

// Expects `resolve` and `explain` to succeed, and `resolve` to report `shape` for the first output.
template <class Args>
void expect_resolution(guf_status (*resolve)(guf_ufunc, const Args *, guf_resolution *,
                                             guf_error *),
                       guf_status (*explain)(guf_ufunc, const Args *, char *, uint64_t *,
                                             guf_error *),
                       guf_ufunc ufunc, const Args &args, const Shape &shape) {
  guf_error error = fresh_error();
  guf_resolution found;
  found.struct_size = sizeof found;
  ASSERT_EQ(resolve(ufunc, &args, &found, &error), GUF_OK) << error.message;
  const int64_t *const extents = found.output_shapes[0];
  ASSERT_EQ(Shape(extents, extents + found.output_ndims[0]), shape);
  char text[8192];
  uint64_t length = sizeof text;
  ASSERT_EQ(explain(ufunc, &args, text, &length, &error), GUF_OK) << error.message;
  EXPECT_EQ(std::strlen(text) + 1, length);
}

inline guf_call_args make_args(std::vector<guf_operand> *inputs, std::vector<guf_operand> *outputs,
                               const guf_operand *where) {
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = inputs->data();
  args.ninputs = static_cast<int32_t>(inputs->size());
  args.outputs = outputs->data();
  args.noutputs = static_cast<int32_t>(outputs->size());
  args.where = where;
  return args;
}

// Checks guf_resolve and guf_explain, and then makes the call. `shape` is the expected shape of the
// first output.
inline guf_status run(CallFunction function, guf_ufunc ufunc, std::vector<guf_operand> inputs,
                      std::vector<guf_operand> outputs, const guf_operand *where,
                      const Shape &shape, guf_error *error) {
  guf_call_args args = make_args(&inputs, &outputs, where);
  const bool outer = function == guf_outer;
  expect_resolution(outer ? requests::resolve_outer : requests::resolve_call,
                    outer ? requests::explain_outer : requests::explain_call, ufunc, args, shape);
  return function(ufunc, &args, error);
}

}  // namespace gufunc

#endif  // GUFUNC_TESTS_UNIT_METHOD_CALL_VARIANTS_H
