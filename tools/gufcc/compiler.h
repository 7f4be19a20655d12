// SPDX-License-Identifier: Apache-2.0
// Finds the kernel compiler, and runs it for the scan and for the compilation.
#ifndef GUFUNC_TOOLS_GUFCC_COMPILER_H
#define GUFUNC_TOOLS_GUFCC_COMPILER_H

#include <filesystem>
#include <functional>
#include <initializer_list>
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

// A source file of the user: the path as typed, for messages, and the absolute path, for programs
// and #include.
struct Source {
  std::string typed;
  std::string absolute;
};

// A type string such as "??->?" looks like a trigraph, which C++17 does not have, so the warning is
// disabled. The flag is not part of the cache key.
inline constexpr char kNoTrigraphs[] = "-Wno-trigraphs";

inline Command joined(std::initializer_list<Command> parts) {
  Command all;
  for (const Command &part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

class Compiler {
 public:
  Compiler(const Options &options, const std::vector<Source> &sources, std::filesystem::path work,
           Diagnostics *diagnostics);

  // Finds the compiler and the dialect's headers.
  bool locate();

  // Runs the preprocessor with -DGUF_SCAN. Line markers in the result have the paths as typed.
  bool scan(size_t source, std::string *preprocessed);

  // A translation unit to compile.
  struct Unit {
    std::string stem;  // stem of the intermediate files
    std::string text;
    std::string call_probe;  // source that detects wrong parameters and result types
    // Source that calls each function once. Its errors are shorter than the errors of `text`.
    // Empty for devices.
    std::string probe;
    Command command;  // compiler and flags, without files
    const char *action = "-c";
    bool quiet = true;  // no warnings: rules_check.h prints them
    // Returns the source to compile instead if the loops with the numbers in `on_stack` keep
    // variables on the stack (llvm_code.h). Empty for devices.
    std::function<std::string(const std::set<int> &on_stack)> text_on_stack;
    Command places = {};         // flags after `command` that are not part of the cache key
    std::string stack_key = {};  // part of the cache key instead of `places`
    bool is_nvcc = false;        // nvcc spells some flags differently
    bool has_lines = false;      // with debug information, the object contains lines and paths
  };

  // Compiler and flags for host kernels.
  Command host_command() const;

  // Compiles a unit to `object`, or copies the object from the cache.
  bool compile(const Unit &unit, const std::filesystem::path &object);

  // The two halves of compile(). expand() returns the text whose hash is the cache key: the
  // preprocessed unit with its flags and the compiler's version. Units with the same text compile
  // to the same object.
  bool expand(const Unit &unit, std::string *text);
  bool compile_expanded(const Unit &unit, const std::string &text,
                        const std::filesystem::path &object);

  // Result of a step that writes a file. If the step printed messages, the file is not cached,
  // because a later build would not repeat them.
  enum class Made { kFailed, kWithMessages, kSilently };

  // Copies `file` from the cache, where its key is the hash of `text`, or calls `make` and caches
  // the file. `what` names the file in the output of -v.
  bool make_cached(const std::string &text, const std::string &what,
                   const std::filesystem::path &file, const std::function<Made()> &make);

  // Thread-safe versions of read_file, write_file and Diagnostics::error.
  bool read(const std::filesystem::path &file, std::string *out);
  bool write(const std::filesystem::path &file, const std::string &text);
  bool fail(const std::string &message);
  // Whether a program failed because it could not write a file. Reports the first such failure.
  bool is_storage_failure(const ProcessResult &result);
  void pass_on(const Command &command, const std::string &text);

  // Rewrites messages for the user: paths become the paths as typed, and lines about gufcc's own
  // files are removed.
  std::string readable(const std::string &text) const;
  // Returns the messages of failed assertions of generate_call_probes and generate_rules, rewritten
  // for the user.
  std::string call_complaints(const std::string &output) const;
  // Path of an intermediate file.
  std::filesystem::path work(const std::string &name) const { return work_ / name; }

  // Returns where the symbols of a unit are defined or first used, without the symbols of entries.
  // Compiles the unit again, with debug information, to `object`.
  std::map<std::string, Place> find_symbols(const Unit &unit,
                                            const std::filesystem::path &object) const;

  // Runs a command and adds its output, rewritten for the user, to the diagnostics. `what` names
  // the step in the error for a failed command.
  bool run(const Command &command, const char *what) {
    return run_and_see(command, what) != Made::kFailed;
  }
  Made run_and_see(const Command &command, const char *what);

  const std::string &path() const { return path_; }
  bool debugs() const { return options_.debug; }
  const std::filesystem::path &headers() const { return headers_; }
  // -I and -D flags of the dialect and of the user.
  const Command &include_flags() const { return include_flags_; }
  // Like include_flags(), without the folder that shadows the system headers. For a compiler such
  // as nvcc that includes system headers itself.
  Command open_include_flags() const { return {include_flags_.begin() + 1, include_flags_.end()}; }
  // Like include_flags(), with the dialect's headers as system headers, which cause no warnings.
  Command system_include_flags() const;
  // Every file that preprocessing read, except intermediate files.
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
  std::mutex mutex_;  // protects diagnostics and dependencies while units compile in parallel
  std::string path_, version_;
  Command include_flags_;
  std::set<std::string> dependencies_;
  ObjectCache cache_;
  bool compile_failed_ = false;
  bool storage_failed_ = false;
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_COMPILER_H
