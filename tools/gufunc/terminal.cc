// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <cstdio>

#include "core/base/utf8.h"
#include "outcome.h"

namespace gufunc::cli {

using base::LineFeeds;
using base::printable;

void write_line(std::string_view line) {
  print_text(printable(line) + "\n");
}

void print_text(std::string_view text) {
  write_output(printable(text, LineFeeds::kKeep));
}

void write_output(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size())
    throw Failure(Exit::kFile, "cannot write to standard output");
}

void write_message(std::string_view line) {
  std::fputs((printable(line) + "\n").c_str(), stderr);
}

}  // namespace gufunc::cli
