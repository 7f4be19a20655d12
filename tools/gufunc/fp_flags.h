// SPDX-License-Identifier: Apache-2.0
// --fp-flags: how a call or method reacts to floating-point flags, as NumPy's errstate does.
#ifndef GUFUNC_TOOLS_GUFUNC_FP_FLAGS_H
#define GUFUNC_TOOLS_GUFUNC_FP_FLAGS_H

#include <gufunc/gufunc.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace gufunc::cli {

// The parsed value of --fp-flags, and the flags that were raised. A call or method writes the flags
// into this object, so the object must outlive the call.
class FpFlags {
 public:
  // Parses "report", or a list such as "divide=fail,over=report,all=ignore" in which later entries
  // override earlier ones. Without a text all flags are ignored. Throws Failure(kUsage).
  explicit FpFlags(const std::optional<std::string> &text);
  FpFlags(const FpFlags &) = delete;
  FpFlags &operator=(const FpFlags &) = delete;

  // Sets the fields that request the flags, in the argument struct of a call or method.
  template <class Args>
  void set_options(Args *args) {
    args->options.fp_flags = report_ == 0 ? nullptr : &found_;
    args->options.fp_report = report_;
    args->options.fp_fail = fail_;
  }
  bool requested() const { return (report_ | fail_) != 0; }

  // Prints one line on stderr for each flag that was raised, in the words of NumPy's warnings.
  void print(const std::string &name) const;
  // Returns the errstate names of the raised flags.
  nlohmann::ordered_json json() const;

 private:
  void set(const std::string &text, std::string_view part);

  uint32_t report_ = 0, fail_ = 0, found_ = 0;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_FP_FLAGS_H
