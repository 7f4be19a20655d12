// SPDX-License-Identifier: Apache-2.0
// Provides a reduction whose accumulator describes the reduction tree. The accumulator contains the
// number of elements, and a hash of the order in which elements were visited and accumulators were
// merged.
#ifndef GUFUNC_TESTS_UNIT_METHOD_STATE_FIXTURE_H
#define GUFUNC_TESTS_UNIT_METHOD_STATE_FIXTURE_H

#include "tests/unit/method/method_fixture.h"

namespace gufunc {

template <class T>
T load_value(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store_value(char *to, T value) {
  std::memcpy(to, &value, sizeof value);
}

struct Trace {
  uint64_t hash;
  int64_t count;
};

inline uint64_t mixed(uint64_t a, uint64_t b) {
  return (a ^ (a >> 29)) * 0x9E3779B97F4A7C15U + (b ^ (b >> 31)) * 0xC2B2AE3D27D4EB4FU + 1;
}
inline Trace seen(Trace state, uint64_t number, int32_t value) {
  return {mixed(mixed(state.hash, number), static_cast<uint32_t>(value)), state.count + 1};
}
inline Trace joined(Trace a, Trace b) {
  if (a.count == 0 || b.count == 0) return a.count == 0 ? b : a;
  return {mixed(a.hash * 3, b.hash), a.count + b.count};
}

// Visits the elements of one base block. The signature is (n),(),(n)->(),().
inline void trace_block(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    Trace state = {0, 0};
    const auto first = load_value<int64_t>(args[1] + item * steps[1]);
    for (int64_t i = 0; i < dims[1]; ++i) {
      if (args[2][item * steps[2] + i * steps[6]] == 0) continue;
      state = seen(state, static_cast<uint64_t>(first + i),
                   load_value<int32_t>(args[0] + item * steps[0] + i * steps[5]));
    }
    store_value(args[3] + item * steps[3], state.hash);
    store_value(args[4] + item * steps[4], state.count);
  }
}

inline void trace_merge(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto at = [&](int k) { return args[k] + i * steps[k]; };
    const Trace a = {load_value<uint64_t>(at(0)), load_value<int64_t>(at(1))};
    const Trace b = {load_value<uint64_t>(at(2)), load_value<int64_t>(at(3))};
    const Trace both = joined(a, b);
    store_value(at(4), both.hash);
    store_value(at(5), both.count);
  }
}

inline guf_ufunc make_part(const char *name, const char *signature, int32_t nin, int32_t nout,
                           uint32_t flags, const std::vector<guf_dtype> &types,
                           guf_loop_numpy function) {
  return make_ufunc(name, signature, nin, nout, {}, function, types, flags, GUF_LOOP_ANY_THREAD);
}

inline guf_status set_parts(guf_ufunc block_function, guf_ufunc merge, guf_ufunc finish,
                            guf_error *error = nullptr) {
  guf_reduction_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.merge = merge;
  desc.finish = finish;
  return guf_ufunc_set_reduction(block_function, &desc, error);
}

inline guf_ufunc trace() {
  static const guf_ufunc made = [] {
    const guf_ufunc block_function =
        make_part("test_trace", "(n),(),(n)->(),()", 3, 2, GUF_FUNCTION_ACCEPTS_EMPTY,
                  {GUF_I32, GUF_I64, GUF_BOOL, GUF_U64, GUF_I64}, trace_block);
    const guf_ufunc merge =
        make_part("test_trace_merge", nullptr, 4, 2, 0,
                  {GUF_U64, GUF_I64, GUF_U64, GUF_I64, GUF_U64, GUF_I64}, trace_merge);
    EXPECT_EQ(set_parts(block_function, merge, nullptr), GUF_OK);
    guf_ufunc_release(merge, nullptr);
    return block_function;
  }();
  return made;
}

// A reduce call with several results.
struct StateReduce : Reduce {
  StateReduce(guf_ufunc ufunc, const View &input, size_t count)
      : Reduce(ufunc, input), results(count) {
    args.output = nullptr;
    args.outputs = results.data();
    args.noutputs = static_cast<int32_t>(count);
  }
  ~StateReduce() {
    for (const guf_operand &result : results) {
      if (result.kind == GUF_OPERAND_ARRAY) guf_array_release(result.array, nullptr);
    }
  }
  std::vector<guf_operand> results;
};

}  // namespace gufunc

#endif  // GUFUNC_TESTS_UNIT_METHOD_STATE_FIXTURE_H
