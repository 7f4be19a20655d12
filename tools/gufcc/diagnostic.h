// SPDX-License-Identifier: Apache-2.0
// Collects the messages of gufcc for the user in order, in the format of compilers, and limits
// their number. Each message is a single line, even if a file name contains a line feed.
#ifndef GUFUNC_TOOLS_GUFCC_DIAGNOSTIC_H
#define GUFUNC_TOOLS_GUFCC_DIAGNOSTIC_H

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/utf8.h"

namespace gufunc::gufcc {

// A location in the user's sources. An empty `file` means that there is no location. Line 0 means
// that the line is unknown.
struct Place {
  std::string file;
  int line = 0;
};

class Diagnostics {
 public:
  // Records an error and returns false, so that a failing function can end with `return
  // diagnostics.error(...)`.
  template <class... A>
  bool error(const Place &place, fmt::format_string<A...> format, A &&...args) {
    add(place, "error", base::printable(fmt::format(format, std::forward<A>(args)...)));
    failed_ = true;
    return false;
  }
  // Records an error in the command line.
  template <class... A>
  bool usage_error(fmt::format_string<A...> format, A &&...args) {
    usage_ = true;
    return error({}, format, std::forward<A>(args)...);
  }
  template <class... A>
  void warn(const Place &place, fmt::format_string<A...> format, A &&...args) {
    add(place, "warning", base::printable(fmt::format(format, std::forward<A>(args)...)));
  }
  // Adds the output of a compiler without changes.
  void pass_on(const std::string &text) { text_ += text; }

  bool failed() const { return failed_; }
  bool usage() const { return usage_; }
  const std::string &text() const { return text_; }

 private:
  static constexpr int kMax = 100;  // limit for errors, and separately for warnings

  void add(const Place &place, const char *kind, const std::string &message) {
    int &count = std::string_view(kind) == "error" ? errors_ : warnings_;
    if (++count > kMax + 1) return;
    if (count == kMax + 1) {
      text_ += fmt::format("gufcc: {}: there are more than {} {}s; the others are not shown\n",
                           kind, kMax, kind);
      return;
    }
    const std::string file = base::printable(place.file);
    if (file.empty()) {
      text_ += fmt::format("gufcc: {}: {}\n", kind, message);
    } else if (place.line == 0) {
      text_ += fmt::format("{}: {}: {}\n", file, kind, message);
    } else {
      text_ += fmt::format("{}:{}: {}: {}\n", file, place.line, kind, message);
    }
  }

  std::string text_;
  bool failed_ = false;
  bool usage_ = false;
  int errors_ = 0, warnings_ = 0;
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_DIAGNOSTIC_H
