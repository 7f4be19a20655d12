// SPDX-License-Identifier: Apache-2.0
// A callable host loop: its function, its user pointer, and how it reports failures.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_HOST_LOOP_H
#define GUFUNC_BACKENDS_CPU_LOOPS_HOST_LOOP_H

#include <cxxabi.h>
#include <gufunc/backend.h>
#include <gufunc/status.h>

#include <atomic>
#include <cstdint>

#include "backends/cpu/loops/fp_status.h"

namespace gufunc::cpu {

// The report of the first failed call of a loop.
class LoopFailure {
 public:
  // Keeps the first failure that any thread reports.
  // `record` is the error record that a guf_loop_error filled, or NULL.
  [[gnu::cold]] void keep(guf_status returned, const guf_error *record);
  // Keeps the exception of a loop as GUF_E_LOOP. Must be called in an exception handler.
  [[gnu::cold, gnu::noinline]] void keep_thrown();
  // Replaces this failure with the failure of an earlier call.
  // Must not run concurrently with `keep`.
  void replace(const LoopFailure &earlier);

  // Writes the failure to `error` and returns its status. Must be called after all threads have
  // left the loop. `text` is the module's message for GUF_E_VALUE, or NULL.
  // Errors  the error code that the loop returned; GUF_E_LOOP <= the loop returned any other value
  [[gnu::cold]] guf_status report(const char *text, guf_error *error) const;

 private:
  std::atomic<guf_status> returned_{GUF_OK};
  guf_error record_;  // uninitialised until there is a failure, because clearing it costs time
};

// The internal status of a launch or method whose loop failed.
// No status of the library has this value, so it differs from every failure of the plugin itself.
// HostLoop::failure contains the loop's report.
constexpr guf_status kLoopFailed = INT32_MIN;

// The type of the loop's function: guf_loop_numpy, which returns void, guf_loop_status or
// guf_loop_error.
enum class LoopKind : uint8_t { kVoid, kStatus, kError };

inline LoopKind loop_kind_of(const guf_launch_block &block) {
  if (__builtin_expect((block.flags & GUF_LAUNCH_STATUS) == 0, 1)) return LoopKind::kVoid;
  return (block.flags & GUF_LAUNCH_ERROR) == 0 ? LoopKind::kStatus : LoopKind::kError;
}
inline LoopKind loop_kind_of(const guf_method_block &block) {
  if ((block.flags & GUF_METHOD_STATUS) == 0) return LoopKind::kVoid;
  return (block.flags & GUF_METHOD_ERROR) == 0 ? LoopKind::kStatus : LoopKind::kError;
}

struct HostLoop {
  void *entry = nullptr;
  void *user = nullptr;
  LoopKind kind = LoopKind::kVoid;
  LoopFailure *failure = nullptr;  // receives the first failure of the launch or chunk
  FpStatus *fp_status = nullptr;   // collects floating-point flags; NULL: not requested

  bool may_fail() const { return kind != LoopKind::kVoid; }

  guf_status operator()(char **args, const int64_t *dims, const int64_t *steps) const {
    if (__builtin_expect(fp_status != nullptr, 0)) return fp_status->run(*this, args, dims, steps);
    return run(args, dims, steps);
  }

  // A forced unwind has no exception object, so the reference in its handler is null. The handler
  // does not use this reference, and UBSan must not report it.
  __attribute__((no_sanitize("null", "alignment"))) guf_status run(char **args, const int64_t *dims,
                                                                   const int64_t *steps) const {
    try {
      if (__builtin_expect(may_fail(), 0)) return run_failing(args, dims, steps);
      reinterpret_cast<guf_loop_numpy>(entry)(args, dims, steps, user);
      return GUF_OK;
    } catch (const abi::__forced_unwind &) {
      throw;  // the loop ended its thread, so this exception must not be caught
    } catch (...) {
      failure->keep_thrown();
      return kLoopFailed;
    }
  }

  guf_status run_failing(char **args, const int64_t *dims, const int64_t *steps) const {
    if (kind == LoopKind::kStatus) {
      const guf_status returned = reinterpret_cast<guf_loop_status>(entry)(args, dims, steps, user);
      if (returned == GUF_OK) return GUF_OK;
      failure->keep(returned, nullptr);
      return kLoopFailed;
    }
    // The message is initialised as an empty string. Its other bytes are not read, so they stay
    // uninitialised.
    guf_error report;
    report.struct_size = sizeof report;
    report.status = GUF_OK;
    report.argument = report.axis = -1;
    report.native_code = report.reserved = 0;
    report.message[0] = '\0';
    const guf_status returned =
        reinterpret_cast<guf_loop_error>(entry)(args, dims, steps, user, &report);
    if (returned == GUF_OK) return GUF_OK;
    failure->keep(returned, &report);
    return kLoopFailed;
  }
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_HOST_LOOP_H
