// SPDX-License-Identifier: Apache-2.0
// Host loops for the oracle that add int64 elements. They fail at a chosen element, or read outside
// their inputs. All loops share the variable `failure`, because only one call runs at a time.
#include <gufunc/gufunc.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#define GUFUNC_TEST_API extern "C" __attribute__((visibility("default")))

namespace {

constexpr int64_t kNever = INT64_MAX / 2;

// With kReadsBeyond and kReadsBefore, a loop reads one element after the last element or before the
// first element of each input, and does not fail.
enum How : int32_t {
  kReturns = 0,
  kThrows = 1,
  kThrowsInt = 2,
  kReadsBeyond = 3,
  kReadsBefore = 4
};

struct Failure {
  std::atomic<int64_t> left = kNever;  // number of elements before the failing element
  std::atomic<bool> happened = false;
  How how = kReturns;
  bool sticky = false;  // whether loops that run after the failing element also fail
} failure;

template <class T>
T load(const char *address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

void read_outside_inputs(char *const *args, const int64_t *dims, const int64_t *steps) {
  for (int input = 0; input < 2; ++input) {
    const int64_t element = failure.how == kReadsBeyond ? dims[0] : -1;
    const volatile char *address = args[input] + element * steps[input];
    static_cast<void>(*address);
  }
}

// Adds elements up to the failing element. Returns false if the loop must fail.
bool add(char **args, const int64_t *dims, const int64_t *steps) {
  if (failure.how == kReadsBeyond || failure.how == kReadsBefore) {
    read_outside_inputs(args, dims, steps);
  }
  const int64_t left = failure.left.fetch_sub(dims[0]);
  const bool fails = left < dims[0] && (left >= 0 || failure.sticky);
  const int64_t count = fails ? (left < 0 ? 0 : left) : dims[0];
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t sum =
        load<uint64_t>(args[0] + i * steps[0]) + load<uint64_t>(args[1] + i * steps[1]);
    std::memcpy(args[2] + i * steps[2], &sum, sizeof sum);
  }
  if (fails) failure.happened = true;
  return !fails;
}

guf_status fail() {
  if (failure.how == kThrows) throw std::runtime_error("the chosen element");
  if (failure.how == kThrowsInt) throw 42;
  return GUF_E_LOOP;
}

void add_numpy(char **args, const int64_t *dims, const int64_t *steps, void *) {
  if (!add(args, dims, steps)) fail();
}

guf_status add_status(char **args, const int64_t *dims, const int64_t *steps, void *) {
  return add(args, dims, steps) ? GUF_OK : fail();
}

guf_status add_error(char **args, const int64_t *dims, const int64_t *steps, void *,
                     guf_error *error) {
  if (add(args, dims, steps)) return GUF_OK;
  std::snprintf(error->message, sizeof error->message, "the chosen element failed");
  return fail();
}

}  // namespace

// Returns the loop of a guf_loop_kind, or NULL for an unknown kind.
GUFUNC_TEST_API void *failing_loop(int32_t kind) {
  if (kind == GUF_LOOP_NUMPY) return reinterpret_cast<void *>(add_numpy);
  if (kind == GUF_LOOP_STATUS) return reinterpret_cast<void *>(add_status);
  if (kind == GUF_LOOP_ERROR) return reinterpret_cast<void *>(add_error);
  return nullptr;
}

// Makes the loops fail at the element that follows `left` other elements.
GUFUNC_TEST_API void choose_failure(int64_t left, int32_t how, int32_t sticky) {
  failure.how = static_cast<How>(how);
  failure.sticky = sticky != 0;
  failure.happened = false;
  failure.left = left;
}

// Disarms the failure that choose_failure set. Returns whether an element has failed.
GUFUNC_TEST_API int32_t end_failure() {
  failure.left = kNever;
  failure.how = kReturns;
  return failure.happened ? 1 : 0;
}
