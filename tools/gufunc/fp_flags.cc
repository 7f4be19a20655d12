// SPDX-License-Identifier: Apache-2.0
#include "fp_events.h"

#include <fmt/format.h>

#include <string_view>

#include "call_parts.h"

namespace gufunc::cli {
namespace {

struct EventName {
  const char *key;   // key of NumPy's errstate
  const char *text;  // text of NumPy's warning
  uint32_t events;
};

constexpr EventName kEvents[] = {
    {"divide", "divide by zero", GUF_FP_DIVIDE | GUF_FP_INTEGER_DIVIDE},
    {"over", "overflow", GUF_FP_OVERFLOW},
    {"under", "underflow", GUF_FP_UNDERFLOW},
    {"invalid", "invalid value", GUF_FP_INVALID},
};

// Returns the floating-point flags of one name or of "all", or 0 if the name is unknown.
uint32_t events_of(std::string_view key, bool *known) {
  uint32_t events = 0;
  for (const EventName &event : kEvents) {
    if (key == event.key || key == "all") events |= event.events;
  }
  *known = events != 0;
  return events;
}

}  // namespace

FpEvents::FpEvents(const std::string &text) {
  if (text.empty()) return;
  for (const std::string_view part : parts_of(text)) set(text, part);
}

void FpEvents::set(const std::string &text, std::string_view part) {
  const size_t equals = part.find('=');
  const bool keyed = equals != part.npos;
  const std::string_view key = keyed ? part.substr(0, equals) : "all";
  const std::string_view mode = keyed ? part.substr(equals + 1) : part;
  bool known = !key.empty();
  const uint32_t events = known ? events_of(key, &known) : 0;
  if (!known || (mode != "ignore" && mode != "report" && mode != "fail")) {
    usage(
        fmt::format("--events {}: found '{}', wanted ignore, report or fail, for one event as in "
                    "over=fail; the events are all, divide, over, under and invalid",
                    text, part));
  }
  report_ = (report_ & ~events) | (mode == "report" ? events : 0);
  fail_ = (fail_ & ~events) | (mode == "fail" ? events : 0);
}

void FpEvents::print(const std::string &name) const {
  for (const EventName &event : kEvents) {
    if ((found_ & event.events) != 0)
      fmt::print(stderr, "gufunc: warning: {} encountered in {}\n", event.text, name);
  }
}

nlohmann::ordered_json FpEvents::json() const {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const EventName &event : kEvents) {
    if ((found_ & event.events) != 0) names.push_back(event.key);
  }
  return names;
}

}  // namespace gufunc::cli
