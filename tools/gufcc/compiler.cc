// SPDX-License-Identifier: Apache-2.0
// The steps around clang, and the report of a failed compilation in terms of the user's source
// lines. An object depends on the preprocessed text, the flags and the compiler's version; the hash
// of all three is the key of the object in the cache. The hashed text contains paths only if the
// object does (debug information, source locations), so checkouts and build folders share objects.
#include "compiler.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "compiler_output.h"
#include "entry_text.h"
#include "files.h"
#include "generate.h"
#include "host_only.h"
#include "llvm_code.h"
#include "refused_names.h"

namespace gufunc::gufcc {

namespace fs = std::filesystem;

namespace {

// Flags of host code besides the optimization level. Results must not depend on the ISA, so the
// flags do not allow reassociation; Build adds the flag for contraction. Kernels do not set errno.
const Command kCodeFlags = {
    "-fno-math-errno", "-fPIC",           "-fvisibility=hidden",     "-fvisibility-inlines-hidden",
    "-fno-exceptions", "-fno-rtti",       "-fno-threadsafe-statics", "-Wall",
    "-Wextra",         "-Wno-pass-failed"};

ObjectCache open_cache(const Options &options) {
  if (options.no_cache) return ObjectCache({});
  return ObjectCache(options.cache_dir.empty() ? default_cache_folder()
                                               : fs::path(options.cache_dir));
}

// Returns the flags that an object depends on besides its preprocessed text. -I and -D are left
// out, because preprocessing has applied them. Warning flags are also left out. With debug
// information, the object depends on all flags.
std::string flags_of_the_key(const Compiler::Unit &unit) {
  Command flags;
  for (size_t i = unit.is_nvcc ? 1 : 0; i < unit.command.size(); ++i) {  // skip the path of nvcc
    const std::string &word = unit.command[i];
    const bool is_used_up =
        word.starts_with("-I") || word.starts_with("-D") || word.starts_with("-W");
    if (unit.has_lines || !is_used_up) flags.push_back(word);
  }
  const std::string folder = unit.has_lines ? absolute_path(".") : "";
  return command_line(flags) + folder + "\n";
}

// Whether a preprocessed text uses builtins that the compiler replaces by source locations, such as
// __builtin_LINE. Without debug information, only such a text is preprocessed with line markers.
bool uses_source_locations(const std::string &text) {
  for (const char *builtin :
       {"__builtin_FILE", "__builtin_LINE", "__builtin_COLUMN", "__builtin_source_location"}) {
    if (text.find(builtin) != std::string::npos) return true;
  }
  return false;
}

// Extracts the message for the user from a line with one of gufcc's own assertions; returns "" for
// other lines. Examples of lines:
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

Compiler::Compiler(const Options &options, const std::vector<Source> &sources, fs::path work,
                   Diagnostics *diagnostics)
    : options_(options),
      sources_(sources),
      work_(std::move(work)),
      diagnostics_(diagnostics),
      cache_(open_cache(options)) {
  for (const Source &source : sources_) typed_paths_.add_source(source.typed);
  for (const std::string &folder : options_.include_dirs) typed_paths_.add_folder(folder);
  if (!cache_.refusal().empty()) {
    diagnostics_->warn({}, "the cache of compiled objects is not used: {}", cache_.refusal());
  }
}

bool Compiler::locate() {
  if (!find_compiler() || !find_headers() || !write_refused_headers()) return false;
  include_flags_ = {"-I" + (work_ / "refused").string(), "-I" + headers_.string()};
  for (const std::string &dir : options_.include_dirs)
    include_flags_.push_back("-I" + absolute_path(dir));
  for (const std::string &definition : options_.definitions) {
    include_flags_.push_back("-D" + definition);
  }
  return true;
}

bool Compiler::find_compiler() {
  Command candidates = {"clang++-19", "clang++"};
  if (!options_.compiler.empty()) candidates = {options_.compiler};
  std::string reasons;
  for (const std::string &candidate : candidates) {
    const ProcessResult result = run_process({candidate, "--version"});
    if (result.error != 0 && result.error != ENOENT && result.error != EACCES) {
      return diagnostics_->error({}, "{}", result.output.substr(0, result.output.find('\n')));
    }
    const bool runs = result.status == 0;
    if (runs && result.output.find("clang") != std::string::npos) {
      path_ = candidate;
      version_ = result.output;
      return true;
    }
    reasons += fmt::format("{}'{}' {}", reasons.empty() ? "" : ", ", candidate,
                           runs ? "is not clang" : "does not run");
  }
  return diagnostics_->error({}, "no kernel compiler: {}; on Debian: apt install clang-19",
                             reasons);
}

bool Compiler::find_headers() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  headers_ = (self.parent_path() / ".." / "include").lexically_normal();
  if (!failure && fs::exists(headers_ / "gufunc" / "kernel.hpp", failure)) return true;
  return diagnostics_->error({}, "cannot find gufunc/kernel.hpp in {}", headers_.string());
}

bool Compiler::write_refused_headers() {
  std::error_code failure;
  const fs::path folder = work_ / "refused" / "bits";  // for bits/stdc++.h
  if (!fs::create_directories(folder, failure) && failure) {
    return diagnostics_->error({}, "cannot make {}: {}", folder.string(), failure.message());
  }
  for (const std::string &name : refused_headers()) {
    if (options_.debug && (name == "cstdio" || name == "stdio.h")) continue;
    const std::string text =
        fmt::format("#ifdef GUF_SCAN\n__guf_refused__({})\n#else\n#error \"{}\"\n#endif\n", name,
                    why_refused(name));
    if (!write_file(work_ / "refused" / name, text, diagnostics_)) return false;
  }
  return true;
}

Compiler::Made Compiler::run_and_see(const Command &command, const char *what) {
  const ProcessResult result = run_process(command);
  const bool has_storage = !is_storage_failure(result);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (options_.verbose) diagnostics_->pass_on(command_line(command) + "\n");
  if (!has_storage) return Made::kFailed;
  diagnostics_->pass_on(
      write_messages(in_terms_of_kernels(read_messages(readable(result.output)))));
  if (result.status == 0) return result.output.empty() ? Made::kSilently : Made::kWithMessages;
  diagnostics_->error(
      {}, "{} failed{}", what,
      result.status > 128 ? fmt::format(" with signal {}", result.status - 128) : "");
  return Made::kFailed;
}

bool Compiler::note_dependencies(const fs::path &depfile) {
  std::string text;
  if (!read_file(depfile, &text, diagnostics_)) return false;
  replace_all(&text, "\\\n", " ");
  replace_all(&text, "\\ ", "\x01");
  std::istringstream words(text.substr(text.find(": ") + 1));
  for (std::string word; words >> word;) {
    replace_all(&word, "\x01", " ");
    replace_all(&word, "\\#", "#");
    replace_all(&word, "$$", "$");
    const std::string path = fs::absolute(word).lexically_normal().string();
    if (!path.starts_with(work_.string())) dependencies_.insert(path);
  }
  return true;
}

bool Compiler::scan(size_t source, std::string *preprocessed) {
  const fs::path output = work_ / fmt::format("scan{}.ii", source);
  const fs::path depfile = work_ / fmt::format("scan{}.d", source);
  const Command command = joined({{path_, "-x", "c++", "-std=c++17", "-E", kNoTrigraphs,
                                   "-DGUF_SCAN", "-MD", "-MF", depfile.string()},
                                  include_flags_,
                                  {sources_[source].absolute, "-o", output.string()}});
  if (!run(command, "preprocessing")) return false;
  if (!note_dependencies(depfile) || !read_file(output, preprocessed, diagnostics_)) return false;
  *preprocessed = typed_paths_.with_typed_markers(*preprocessed);
  return true;
}

Command Compiler::system_include_flags() const {
  Command flags = {include_flags_[0], "-isystem", headers_.string()};
  flags.insert(flags.end(), include_flags_.begin() + 2, include_flags_.end());
  return flags;
}

Command Compiler::host_command() const {
  // The flags disable vectorization, because the compiler would emit a vectorized loop twice, as a
  // vector loop and as a scalar loop, and gdb would stop in only one of them.
  const Command debugged = {
      "-O1", "-g", "-mllvm", "-force-vector-width=1", "-mllvm", "-force-vector-interleave=1"};
  // PERF  The speed of a short loop depends on its position in the cache lines of the code. Aligned
  //       functions and loops make it independent of the other functions of the library. Without
  //       these flags, a change elsewhere made the sum of float16 take 1.5 times as long on Zen,
  //       and the sum of int32 along the first axis 1.07 times.
  const Command optimized = {"-O3", "-falign-functions=64", "-falign-loops=32"};
  const Command &level = options_.debug ? debugged : optimized;
  return joined({{path_, "-x", "c++", "-std=c++17"}, include_flags_, level, kCodeFlags});
}

// Preprocesses a unit. nvcc runs twice, because one run writes either the text or the dependencies.
// The text of nvcc never contains line markers, even if `with_lines` is true.
bool Compiler::preprocess(const Unit &unit, bool with_lines, std::string *text) {
  const std::string entry = (work_ / (unit.stem + ".cpp")).string();
  const std::string output = (work_ / (unit.stem + ".ii")).string();
  const fs::path depfile = work_ / (unit.stem + ".d");
  const auto run_with = [&](const Command &more) {
    return run(joined({unit.command, unit.places, more, {entry}}), "preprocessing");
  };
  Command clang = {"-E", kNoTrigraphs, "-MD", "-MF", depfile.string(), "-o", output};
  if (!with_lines) clang.emplace_back("-P");
  const bool good = unit.is_nvcc ? run_with({"-E", "-Xcompiler", "-P", "-o", output}) &&
                                       run_with({"-M", "-MF", depfile.string()})
                                 : run_with(clang);
  if (!good) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  return note_dependencies(depfile) && read_file(output, text, diagnostics_);
}

bool Compiler::expand(const Unit &unit, std::string *text) {
  if (!write(work_ / (unit.stem + ".cpp"), unit.text)) return false;
  if (!preprocess(unit, unit.has_lines, text)) return false;
  const bool has_locations = !unit.has_lines && uses_source_locations(*text);
  if (has_locations && !preprocess(unit, true, text)) return false;
  std::string version = version_;
  if (const std::string &compiler = unit.command[0]; compiler != path_) {
    const ProcessResult result = run_process({compiler, "--version"});
    if (result.status != 0)
      return fail(fmt::format("'{}' does not run: {}", compiler,
                              result.output.substr(0, result.output.find('\n'))));
    version = result.output;
  }
  *text = version + flags_of_the_key(unit) + unit.stack_key + *text;
  // Remove the temporary folder from the key, because the object does not depend on it.
  if (unit.has_lines || has_locations) replace_all(text, work_.string(), "");
  return true;
}

bool Compiler::take_from_cache(const std::string &key, const std::string &what,
                               const fs::path &object) {
  if (!cache_.fetch(key, object)) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (options_.verbose) diagnostics_->pass_on(fmt::format("gufcc: {} from the cache\n", what));
  return true;
}

Compiler::Made Compiler::make_object(const Unit &unit, const Command &flags,
                                     const fs::path &object) {
  const Command quiet = unit.is_nvcc ? Command{} : Command{unit.quiet ? "-w" : kNoTrigraphs};
  const Command command = joined({unit.command,
                                  unit.places,
                                  {unit.action},
                                  quiet,
                                  {(work_ / (unit.stem + ".cpp")).string(), "-o", object.string()},
                                  flags});
  const ProcessResult result = run_process(command);
  const bool has_storage = !is_storage_failure(result);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (options_.verbose) diagnostics_->pass_on(command_line(command) + "\n");
  if (!has_storage) return Made::kFailed;
  if (result.status != 0) {
    report_failure(unit, result.output);
    return Made::kFailed;
  }
  diagnostics_->pass_on(readable(result.output));
  return result.output.empty() ? Made::kSilently : Made::kWithMessages;
}

// Compiles once. If loops use the stack, compiles again without the promise that their iterations
// are independent (llvm_code.h).
Compiler::Made Compiler::make_checked_object(const Unit &unit, const fs::path &object) {
  if (!unit.text_on_stack) return make_object(unit, {}, object);
  const fs::path folder = work_ / (unit.stem + ".code");
  const Made made = make_object(unit, show_code_flags(folder.string()), object);
  if (made == Made::kFailed) return made;
  std::set<int> on_stack;
  std::set<std::string> recursive;
  size_t files = 0;
  std::error_code failure;
  fs::directory_iterator file(folder, failure);
  for (; !failure && file != fs::directory_iterator(); file.increment(failure)) {
    std::string code;
    if (!read(file->path(), &code)) return Made::kFailed;
    on_stack.merge(find_stack_loops(code));
    recursive.merge(find_recursion(code));
    ++files;
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    fail(fmt::format("cannot read {}: {}", folder.string(), failure.message()));
    return Made::kFailed;
  }
  if (files == 0) {
    fail(fmt::format("{} wrote no LLVM IR", path_));
    return Made::kFailed;
  }
  if (!recursive.empty()) {
    report_recursion(unit, recursive);
    return Made::kFailed;
  }
  // The text makes the promise for elementwise loops and their folds, but not for generalized
  // functions. If these are the only loops that use the stack, the text is the same.
  const std::string text = unit.text_on_stack(on_stack);
  if (text == unit.text) return made;
  if (options_.verbose) {
    const std::lock_guard<std::mutex> lock(mutex_);
    diagnostics_->pass_on(
        fmt::format("gufcc: {}: {} loops with variables on the stack, compiled again\n", unit.stem,
                    on_stack.size()));
  }
  if (!write(work_ / (unit.stem + ".cpp"), text) ||
      make_object(unit, {"-w"}, object) == Made::kFailed) {
    return Made::kFailed;
  }
  return made;
}

bool Compiler::make_cached(const std::string &text, const std::string &what, const fs::path &file,
                           const std::function<Made()> &make) {
  const std::string key = ObjectCache::key(text);
  if (take_from_cache(key, what, file)) return true;
  const ObjectCache::Lock made_here(cache_, key);
  if (take_from_cache(key, what, file)) return true;
  const Made made = make();
  if (made == Made::kSilently) cache_.store(key, file);
  return made != Made::kFailed;
}

bool Compiler::compile_expanded(const Unit &unit, const std::string &text, const fs::path &object) {
  return make_cached(text, unit.stem, object, [&] { return make_checked_object(unit, object); });
}

bool Compiler::compile(const Unit &unit, const fs::path &object) {
  std::string text;
  return expand(unit, &text) && compile_expanded(unit, text, object);
}

bool Compiler::read(const fs::path &file, std::string *out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return read_file(file, out, diagnostics_);
}

bool Compiler::write(const fs::path &file, const std::string &text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (storage_failed_) return false;
  storage_failed_ = !write_file(file, text, diagnostics_);
  return !storage_failed_;
}

bool Compiler::is_storage_failure(const ProcessResult &result) {
  if (result.status <= 0) return false;
  const std::string why = storage_failure(result.output);
  if (why.empty()) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::exchange(storage_failed_, true)) return true;
  diagnostics_->error({},
                      "cannot write to the temporary folder {}: {}; set TMPDIR to another folder",
                      work_.parent_path().string(), why);
  return true;
}

void Compiler::pass_on(const Command &command, const std::string &text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (options_.verbose) diagnostics_->pass_on(command_line(command) + "\n");
  diagnostics_->pass_on(text);
}

bool Compiler::fail(const std::string &message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return diagnostics_->error({}, "{}", message);
}

std::string Compiler::readable(const std::string &text) const {
  const std::string skipped = "In file included from " + work_.string();
  std::istringstream lines(typed_paths_.as_typed(text));
  std::string kept;
  bool under_own_text = false;  // the previous line shows or underlines generated text
  for (std::string line; std::getline(lines, line);) {
    const bool own_text =
        line.find(kProbeName) != std::string::npos && line.find(" | ") != std::string::npos;
    const bool underlines = under_own_text && line.find_first_not_of(' ') == line.find('|');
    under_own_text = own_text || underlines;
    if (!own_text && !underlines && !line.starts_with(skipped)) kept += line + "\n";
  }
  return kept;
}

// Leaves out the complaint about all parameters of a function if there is another complaint about
// the function, which is more specific.
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

// Compiles a probe that calls each function once, which reports the error at the line of the
// registration. The failed compilation reports the error from inside the generated loops, and for
// each ISA level again; only the first failure is reported.
void Compiler::report_failure(const Unit &unit, const std::string &output) {
  if (compile_failed_) return;
  compile_failed_ = true;
  if (lacks_code_flags(output)) {
    diagnostics_->error(
        {}, "{} is too old: kernels need clang 17 or later; clang 19 is recommended", path_);
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
