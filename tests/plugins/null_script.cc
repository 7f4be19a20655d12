// SPDX-License-Identifier: Apache-2.0
// Decides which calls fail. Each slot has one rule and a counter of calls.
#include "tests/plugins/null_script.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <stdexcept>

namespace null_plugin {
namespace {

constexpr std::array<std::string_view, kSlots> kNames = {
#define GUF_REQUIRED_SLOT(slot) #slot,
#define GUF_OPTIONAL_SLOT(slot) #slot,
#include <gufunc/backend_slots.def>
};
constexpr std::array<std::string_view, kLiveKinds> kLiveNames = {"memory", "stream", "event",
                                                                 "module"};

// Makes the calls `first` to `last` of a slot fail.
struct Rule {
  std::atomic<guf_status> status{GUF_OK};
  std::atomic<uint64_t> first{0}, last{0};
  std::atomic<uint64_t> calls{0};
};

std::array<Rule, kSlots> &rules() {
  static std::array<Rule, kSlots> instance;
  return instance;
}

template <size_t n>
int find(const std::array<std::string_view, n> &names, std::string_view name) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<int>(i);
  }
  return -1;
}

bool parse(std::string_view text, uint64_t *out) {
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return !text.empty() && failure == std::errc() && stop == text.data() + text.size();
}

bool set_rule(std::string_view name, uint64_t status) {
  uint64_t nth = 0;
  const size_t at = name.find('@');
  if (at != std::string_view::npos && (!parse(name.substr(at + 1), &nth) || nth == 0)) return false;
  const int slot = find(kNames, name.substr(0, at));
  if (slot < 0) return false;
  Rule &rule = rules()[static_cast<size_t>(slot)];
  const uint64_t calls = rule.calls.load();
  rule.status.store(GUF_OK);
  rule.first.store(nth == 0 ? 0 : calls + nth);
  rule.last.store(nth == 0 ? UINT64_MAX : calls + nth);
  rule.status.store(static_cast<guf_status>(status));
  return true;
}

bool run_word(std::string_view word) {
  const size_t equals = word.find('=');
  uint64_t value = 0;
  if (equals == std::string_view::npos || !parse(word.substr(equals + 1), &value)) return false;
  const std::string_view name = word.substr(0, equals);
  if (name == "devices") {
    settings().devices.store(static_cast<int32_t>(value));
  } else if (name == "host_memory") {
    settings().host_memory.store(value != 0);
  } else if (name == "async") {
    settings().async.store(value != 0);
  } else if (name == "stuck") {
    settings().stuck.store(value != 0);
  } else {
    return set_rule(name, value);
  }
  return true;
}

}  // namespace

Settings &settings() {
  static Settings instance;
  return instance;
}

std::atomic<uint64_t> &live(Live kind) {
  static std::array<std::atomic<uint64_t>, kLiveKinds> counters;
  return counters[static_cast<size_t>(kind)];
}

guf_status fail(guf_error *error, guf_status status, const char *message) {
  error->status = status;
  error->argument = error->axis = -1;
  error->native_code = status + 100000;
  std::snprintf(error->message, sizeof error->message, "%s", message);
  return status;
}

guf_status enter(Slot slot, guf_error *error) {
  Rule &rule = rules()[static_cast<size_t>(slot)];
  const uint64_t call = rule.calls.fetch_add(1) + 1;
  const guf_status status = rule.status.load();
  if (status == GUF_OK || call < rule.first.load() || call > rule.last.load()) return GUF_OK;
  if (status == kThrow) throw std::runtime_error("requested by the script");
  if (error != nullptr && status >= 100) {
    char text[100];
    std::snprintf(text, sizeof text, "the script makes call %llu of %s fail",
                  static_cast<unsigned long long>(call), kNames[static_cast<size_t>(slot)].data());
    fail(error, status, text);
  }
  return status;
}

guf_status run_script(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find(';');
    if (!run_word(text.substr(0, end))) return GUF_E_ARG;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return GUF_OK;
}

void reset_script() {
  for (Rule &rule : rules()) {
    rule.status.store(GUF_OK);
    rule.calls.store(0);
  }
  settings().devices.store(1);
  settings().host_memory.store(true);
  settings().async.store(false);
  settings().stuck.store(false);
}

uint64_t count_calls(std::string_view slot) {
  const int index = find(kNames, slot);
  return index < 0 ? UINT64_MAX : rules()[static_cast<size_t>(index)].calls.load();
}

uint64_t count_live(std::string_view what) {
  const int kind = find(kLiveNames, what);
  return kind < 0 ? UINT64_MAX : live(static_cast<Live>(kind)).load();
}

}  // namespace null_plugin
