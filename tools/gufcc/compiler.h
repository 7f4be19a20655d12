// SPDX-License-Identifier: Apache-2.0
// The kernel compiler: where it is, what it is called with, and the scan and compile steps.
#ifndef GUFUNC_TOOLS_GUFCC_COMPILER_H
#define GUFUNC_TOOLS_GUFCC_COMPILER_H

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "diagnostic.h"
#include "object_cache.h"
#include "options.h"
#include "process.h"
#include "targets.h"
#include "typed_paths.h"

namespace gufunc::gufcc {

// One source of the user: as typed, for messages, and absolute, for programs and #include.
struct Source {
  std::string typed;
  std::string absolute;
};

class Compiler {
 public:
  Compiler(const Options &options, const std::vector<Source> &sources, std::filesystem::path work,
           Diagnostics *diagnostics);

  // Finds the compiler and the dialect's headers.
  bool locate();

  // Runs the preprocessor with -DGUF_SCAN.
  bool scan(size_t source, std::string *preprocessed);

  // A translation unit to compile.
  struct Unit {
    std::string stem;  // of its intermediate files
    std::string text;
    std::string call_probe;  // finds wrong numbers of parameters, wrong results
    std::string probe;  // calls the same functions once: its errors are shorter; empty for devices
    Command command;    // compiler and flags, without files
    const char *action = "-c";
    bool quiet = true;  // its warnings come from elsewhere (rules_check.h)
    // The text for callees that use the stack (stack_places.h); empty for devices.
    std::function<std::string(const std::set<int> &on_stack)> text_on_stack;
    Command places = {};          // flags that say where files are; they come last
    std::string places_key = {};  // what the object depends on instead of `places`
    bool is_nvcc = false;         // who spells some flags in its own way
    bool has_lines = false;       // the object has debugging information: lines and paths
  };

  // Compiler and flags of host kernels.
  Command host_command() const;

  // Compiles a unit to `object`, or takes the object from the cache.
  bool compile(const Unit &unit, const std::filesystem::path &object);

  // The two halves of it. Preprocesses a unit to the text that names its object, free of where
  // files lie; units of the same text make the same object.
  bool expand(const Unit &unit, std::string *text);
  bool compile_expanded(const Unit &unit, const std::string &text,
                        const std::filesystem::path &object);

  // What a step that makes a file ended in. A file that came with messages is not kept: whoever
  // took it from the cache would not see them.
  enum class Made { kFailed, kWithMessages, kSilently };

  // Takes the file that `text` names from the cache, or calls `make` to make it and keeps it.
  bool make_cached(const std::string &text, const std::string &what,
                   const std::filesystem::path &file, const std::function<Made()> &make);

  // As read_file, write_file and Diagnostics::error, from any thread.
  bool read(const std::filesystem::path &file, std::string *out);
  bool write(const std::filesystem::path &file, const std::string &text);
  bool fail(const std::string &message);
  void pass_on(const Command &command, const std::string &text);

  // Messages as the user should see them: paths as typed, no line about gufcc's own files.
  std::string readable(const std::string &text) const;
  // The assertions of generate_call_probes and generate_rules that failed, in the user's terms.
  std::string call_complaints(const std::string &output) const;
  // An intermediate file.
  std::filesystem::path work(const std::string &name) const { return work_ / name; }

  // Where the symbols of a unit are defined or first used, without those of entries. Compiles it
  // anew, with debugging information, to `object`.
  std::map<std::string, Place> find_symbols(const Unit &unit,
                                            const std::filesystem::path &object) const;

  // Runs a command; on failure its output becomes the diagnostics, the user's paths as typed.
  bool run(const Command &command, const char *what) {
    return run_and_see(command, what) != Made::kFailed;
  }
  Made run_and_see(const Command &command, const char *what);

  const std::string &path() const { return path_; }
  bool debugs() const { return options_.debug; }
  const std::filesystem::path &headers() const { return headers_; }
  // -I and -D of the dialect and of the user.
  const Command &include_flags() const { return include_flags_; }
  // The same without the folder that keeps kernels from the system's headers, for a compiler that
  // reads those by itself.
  Command open_include_flags() const { return {include_flags_.begin() + 1, include_flags_.end()}; }
  // The same with the dialect's headers as those of a system, of which nothing is said.
  Command system_include_flags() const;
  // Every file that was read, without intermediate ones.
  const std::set<std::string> &dependencies() const { return dependencies_; }

 private:
  bool find_compiler();
  bool find_headers();
  bool write_refused_headers();
  bool preprocess(const Unit &unit, bool with_lines, std::string *text);
  bool take_from_cache(const std::string &key, const std::string &what,
                       const std::filesystem::path &object);
  Made make_object(const Unit &unit, const Command &flags, const std::filesystem::path &object);
  Made make_checked_object(const Unit &unit, const std::filesystem::path &object);
  bool report_calls(const Unit &unit);
  void report_recursion(const Unit &unit, const std::set<std::string> &functions);
  void report_failure(const Unit &unit, const std::string &output);
  bool note_dependencies(const std::filesystem::path &depfile);

  const Options &options_;
  const std::vector<Source> &sources_;
  TypedPaths typed_paths_;
  std::filesystem::path work_, headers_;
  Diagnostics *diagnostics_;
  std::mutex mutex_;  // diagnostics and dependencies, when units compile side by side
  std::string path_, version_;
  Command include_flags_;
  std::set<std::string> dependencies_;
  ObjectCache cache_;
  bool compile_failed_ = false;
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_COMPILER_H
