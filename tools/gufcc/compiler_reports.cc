// SPDX-License-Identifier: Apache-2.0
// Reports a failed compilation in terms of the user's source lines.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "compiler.h"
#include "compiler_flags.h"
#include "entry_text.h"
#include "files.h"
#include "generate.h"
#include "host_only.h"
#include "stack_loops.h"

namespace gufunc::gufcc {

namespace fs = std::filesystem;

namespace {

// Extracts the user's message from a line with one of gufcc's own assertions; returns "" for other
// lines. Examples of lines:
// "k.guf.cpp:4:1: error: static assertion failed ...: gufcc: f: expected 2 parameters ..."
// "k.guf.cpp:4:1: error: static assertion failed due to requirement 'guf_probe_result<S, float>':
// gufcc: f: expected a result ..., got one of type '%TYPE%'"
std::string call_complaint(const std::string &line) {
  const size_t assertion = line.find("static assertion failed"), mark = line.find(kCallMark);
  if (assertion == std::string::npos || mark == std::string::npos) return {};
  // Remove the column, which refers to the probe.
  const size_t end = line.rfind(": error: ", assertion);
  if (end == std::string::npos || end == 0) return {};
  std::string message = line.substr(mark + std::strlen(kCallMark));
  const size_t probe = line.find(kTypeProbe, assertion), comma = line.rfind(", ", mark);
  const size_t type = probe == std::string::npos ? probe : line.find('<', probe) + 1;
  if (type < mark && comma != std::string::npos && comma > type) {
    replace_all(&message, kResultType, line.substr(type, comma - type));
  }
  return line.substr(0, line.rfind(':', end - 1)) + ": error: " + message + "\n";
}

}  // namespace

std::string Compiler::readable(const std::string &text) const {
  const std::string skipped = "In file included from " + work_.string();
  std::istringstream lines(typed_paths_.as_typed(text));
  std::string kept;
  bool under_own_text = false;  // the next line underlines generated text
  for (std::string line; std::getline(lines, line);) {
    const bool own_text =
        line.find(kProbeName) != std::string::npos && line.find(" | ") != std::string::npos;
    const bool underlines = under_own_text && line.find_first_not_of(' ') == line.find('|');
    under_own_text = own_text || underlines;
    if (!own_text && !underlines && !line.starts_with(skipped)) kept += line + "\n";
  }
  return kept;
}

// The complaint about all parameters of a function is left out if another complaint names the wrong
// parameter.
std::string Compiler::call_complaints(const std::string &output) const {
  constexpr std::string_view kAllParameters = ": expected parameters (";
  std::istringstream lines(output);
  std::vector<std::string> complaints;
  for (std::string line; std::getline(lines, line);) {
    const std::string complaint = call_complaint(line);
    if (std::find(complaints.begin(), complaints.end(), complaint) == complaints.end())
      complaints.push_back(complaint);
  }
  std::string found;
  for (const std::string &complaint : complaints) {
    const size_t all = complaint.find(kAllParameters);
    const std::string function = complaint.substr(0, all) + ": ";
    const bool is_named =
        all != std::string::npos &&
        std::any_of(complaints.begin(), complaints.end(), [&](const std::string &other) {
          return other != complaint && other.starts_with(function);
        });
    if (!is_named) found += complaint;
  }
  return readable(found);
}

bool Compiler::report_calls(const Unit &unit) {
  const fs::path probe = work_ / (unit.stem + "_call.cpp");
  if (!write_file(probe, unit.call_probe, diagnostics_)) return false;
  const std::string found =
      call_complaints(run_process(joined({host_command(),
                                          {"-fsyntax-only", kNoTrigraphs, "-w", "-ferror-limit=0",
                                           "-fno-caret-diagnostics", probe.string()}}))
                          .output);
  diagnostics_->pass_on(found);
  return !found.empty();
}

// The compiler reports an error once per ISA level and from inside the generated loops. Therefore a
// probe that calls each function once is compiled, which reports the error once, at the line of the
// registration.
void Compiler::report_failure(const Unit &unit, const std::string &output) {
  if (compile_failed_) return;
  compile_failed_ = true;
  if (lacks_code_flags(output)) {
    diagnostics_->error({}, "{} is too old: kernels need clang 17 or later, best clang 19", path_);
    return;
  }
  if (report_calls(unit)) {
    diagnostics_->error({}, "the kernels do not compile");
    return;
  }
  const fs::path probe = work_ / (unit.stem + "_probe.cpp");
  std::string text = output;
  if (!unit.probe.empty() && write_file(probe, unit.probe, diagnostics_)) {
    const ProcessResult result = run_process(
        joined({unit.command,
                {"-fsyntax-only", kNoTrigraphs, "-fmacro-backtrace-limit=1", probe.string()}}));
    if (result.status > 0) text = result.output;
  }
  diagnostics_->pass_on(readable(text));
  diagnostics_->error({}, "the kernels do not compile");
}

void Compiler::report_recursion(const Unit &unit, const std::set<std::string> &functions) {
  const std::map<std::string, Place> places =
      find_symbols(unit, work_ / (unit.stem + "_with_lines.o"));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::exchange(compile_failed_, true)) return;  // another ISA level has reported it
  for (const std::string &symbol : functions) {
    const auto place = places.find(symbol);
    diagnostics_->error(place == places.end() ? Place{sources_[0].typed} : place->second,
                        "{} calls itself, which devices without a stack cannot run; write a loop",
                        demangled(symbol));
  }
}

std::map<std::string, Place> Compiler::find_symbols(const Unit &unit,
                                                    const fs::path &object) const {
  std::map<std::string, Place> places;
  const ProcessResult compiled =
      run_process(joined({unit.command,
                          {unit.action, kNoTrigraphs, "-w", "-g", "-gdwarf-4",
                           (work_ / (unit.stem + ".cpp")).string(), "-o", object.string()}}));
  if (compiled.status != 0) return places;
  // Format: "0000000000000000 b _ZL1n\t/home/me/n.guf.cpp:3"
  std::istringstream lines(run_process({"nm", "-l", object.string()}).output);
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t'), colon = line.rfind(':');
    if (tab == std::string::npos || colon == std::string::npos || colon < tab) continue;
    const std::string symbol = line.substr(0, tab).substr(line.rfind(' ', tab) + 1);
    const Place place{typed_paths_.as_typed(line.substr(tab + 1, colon - tab - 1)),
                      std::atoi(line.c_str() + colon + 1)};
    if (place.line > 0 && place.file.find(kEntriesFile) == std::string::npos)
      places[symbol] = place;
  }
  return places;
}

}  // namespace gufunc::gufcc
