// SPDX-License-Identifier: Apache-2.0
// Declares the null plugin's script, counters and numbers of live objects.
#ifndef GUFUNC_TESTS_PLUGINS_NULL_SCRIPT_H
#define GUFUNC_TESTS_PLUGINS_NULL_SCRIPT_H

#include <gufunc/backend.h>

#include <atomic>
#include <string_view>

namespace null_plugin {

// Declares one enumerator per slot, such as k_probe, in the order of the table.
enum Slot : int {
#define GUF_REQUIRED_SLOT(slot) k_##slot,
#define GUF_OPTIONAL_SLOT(slot) k_##slot,
#include <gufunc/backend_slots.def>
  kSlots
};

enum Live : int { kLiveMemory, kLiveStreams, kLiveEvents, kLiveModules, kLiveKinds };

struct Settings {
  std::atomic<int32_t> devices{1};
  std::atomic<bool> host_memory{true};
  std::atomic<bool> async{false};
  std::atomic<bool> stuck{false};
};

Settings &settings();
std::atomic<uint64_t> &live(Live kind);

// A status in a script that makes a slot throw an exception.
inline constexpr guf_status kThrow = 1;

// Counts a call of the slot and returns the status with which the call must fail, or GUF_OK.
guf_status enter(Slot slot, guf_error *error);

// Writes an error record and returns `status`.
guf_status fail(guf_error *error, guf_status status, const char *message);

guf_status run_script(std::string_view text);
void reset_script();
uint64_t count_calls(std::string_view slot);
uint64_t count_live(std::string_view what);

}  // namespace null_plugin

#endif  // GUFUNC_TESTS_PLUGINS_NULL_SCRIPT_H
