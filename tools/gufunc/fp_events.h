// SPDX-License-Identifier: Apache-2.0
// --events: what a call or method does about floating-point events, NumPy's errstate.
#ifndef GUFUNC_TOOLS_GUFUNC_FP_EVENTS_H
#define GUFUNC_TOOLS_GUFUNC_FP_EVENTS_H

#include <gufunc/gufunc.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace gufunc::cli {

// Lives until the work is done, which writes into it.
class FpEvents {
 public:
  // "report", or "divide=fail,over=report,all=ignore": later ones win. "" ignores all.
  // Throws Failure(kUsage).
  explicit FpEvents(const std::string &text);
  FpEvents(const FpEvents &) = delete;
  FpEvents &operator=(const FpEvents &) = delete;

  // Asks for them, in the struct of any method.
  template <class Args>
  void ask(Args *args) {
    args->fp_events = report_ == 0 ? nullptr : &found_;
    args->fp_report = report_;
    args->fp_fail = fail_;
  }
  bool asked() const { return (report_ | fail_) != 0; }

  // A line on stderr for each that was found, as NumPy warns.
  void print(const std::string &name) const;
  // Their names in errstate.
  nlohmann::ordered_json json() const;

 private:
  void set(const std::string &text, std::string_view part);

  uint32_t report_ = 0, fail_ = 0, found_ = 0;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_FP_EVENTS_H
