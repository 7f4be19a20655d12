// SPDX-License-Identifier: Apache-2.0
#include "fp_flags.h"

#include <fmt/format.h>

#include <string_view>

#include "call_parts.h"
#include "terminal.h"

namespace gufunc::cli {
namespace {

struct FlagName {
  const char *key;   // key of NumPy's errstate
  const char *text;  // text of NumPy's warning
  uint32_t bits;     // guf_fp_flag
};

constexpr FlagName kFlags[] = {
    {"divide", "divide by zero", GUF_FP_DIVIDE | GUF_FP_INTEGER_DIVIDE},
    {"over", "overflow", GUF_FP_OVERFLOW},
    {"under", "underflow", GUF_FP_UNDERFLOW},
    {"invalid", "invalid value", GUF_FP_INVALID},
};

// Returns the floating-point flags of one name or of "all", or 0 if the name is unknown.
uint32_t fp_flags_of(std::string_view key, bool *known) {
  uint32_t fp_flags = 0;
  for (const FlagName &flag : kFlags) {
    if (key == flag.key || key == "all") fp_flags |= flag.bits;
  }
  *known = fp_flags != 0;
  return fp_flags;
}

}  // namespace

FpFlags::FpFlags(const std::optional<std::string> &text) {
  if (!text) return;
  for (const std::string_view part : parts_of(*text)) set(*text, part);
}

void FpFlags::set(const std::string &text, std::string_view part) {
  const size_t equals = part.find('=');
  const bool keyed = equals != part.npos;
  const std::string_view key = keyed ? part.substr(0, equals) : "all";
  const std::string_view mode = keyed ? part.substr(equals + 1) : part;
  bool known = !key.empty();
  const uint32_t fp_flags = known ? fp_flags_of(key, &known) : 0;
  if (!known || (mode != "ignore" && mode != "report" && mode != "fail")) {
    usage(
        fmt::format("--fp-flags {}: expected ignore, report or fail, for one flag as in over=fail, "
                    "got '{}'; the flags are all, divide, over, under and invalid",
                    visible(text), part));
  }
  report_ = (report_ & ~fp_flags) | (mode == "report" ? fp_flags : 0);
  fail_ = (fail_ & ~fp_flags) | (mode == "fail" ? fp_flags : 0);
}

void FpFlags::print(const std::string &name) const {
  for (const FlagName &flag : kFlags) {
    if ((found_ & flag.bits) != 0) report("gufunc: warning: {} encountered in {}", flag.text, name);
  }
}

nlohmann::ordered_json FpFlags::json() const {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const FlagName &flag : kFlags) {
    if ((found_ & flag.bits) != 0) names.push_back(flag.key);
  }
  return names;
}

}  // namespace gufunc::cli
