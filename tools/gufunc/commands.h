// SPDX-License-Identifier: Apache-2.0
// The subcommands. Each one receives its parsed options and writes to stdout. Failures are thrown.
#ifndef GUFUNC_TOOLS_GUFUNC_COMMANDS_H
#define GUFUNC_TOOLS_GUFUNC_COMMANDS_H

#include <optional>
#include <string>
#include <vector>

namespace gufunc::cli {

struct Common {
  bool json = false;
  std::vector<std::string> modules;  // files to load first
};

// An option that was not given has no value. This differs from an empty value, which is an error.
struct RunOptions {
  std::string name;
  std::vector<std::string> inputs;   // .npy files and literals
  std::vector<std::string> outputs;  // -o: new files
  std::vector<std::string> into;     // --into: existing files, written in place
  std::vector<std::string> dims;     // "n=4"
  std::optional<std::string> device;
  std::optional<std::string> dtype;
  std::optional<std::string> casting;
  std::optional<std::string> where;
  std::string order = "K";
  std::optional<std::string> axis;
  std::optional<std::string> axes;       // "(0,1),(1,2),(0,1)"
  std::optional<std::string> signature;  // "dd->d", "f8,None,f8"
  std::optional<std::string> fp_flags;   // "report", "over=fail"
  std::optional<std::string> chunk;
  std::optional<std::string> threads;
  bool keepdims = false;
  bool inplace = false;
  bool raw = false;
  bool time = false;
};

// Options of reduce, accumulate, reduceat, outer and at.
struct MethodOptions {
  std::string method;
  std::string name;
  std::vector<std::string> inputs;   // .npy files and literals
  std::vector<std::string> indices;  // reduceat: one; at: one per axis; files or "0,3,5"
  std::vector<std::string> outputs;  // -o: new files
  std::vector<std::string> into;     // --into: existing files
  std::optional<std::string> device;
  std::optional<std::string> dtype;
  std::optional<std::string> casting;
  std::optional<std::string> axis;       // "0", "0,2", "none", "()"
  std::optional<std::string> signature;  // outer: "dd->d", "f8,None,f8"
  std::optional<std::string> fp_flags;   // "report", "over=fail"
  std::optional<std::string> initial;    // a literal, a 0-d file, or "none"
  std::optional<std::string> where;
  std::vector<std::string> parameters;  // reduce: literals
  std::string order = "K";
  bool keepdims = false;
  bool explain = false;
  bool inplace = false;
  bool raw = false;
  bool time = false;
  std::optional<std::string> threads;
};

// Options of bench. Lists are separated by commas.
struct BenchOptions {
  std::string name;
  std::string methods = "call";
  std::string sizes = "1e3,1e4,1e5,1e6";  // "1e6", "1000x1000"
  std::string layouts = "contiguous";
  std::string devices = "cpu";
  std::string threads = "1";
  std::string peers = "numpy,numba,torch,cupy";  // or "none"
  std::string seconds = "0.5";
  std::string plot = "throughput";
  std::optional<std::string> dtypes;
  std::optional<std::string> axis;    // of reduce and accumulate
  std::optional<std::string> values;  // "0.5:2"
  std::optional<std::string> memory;  // "4G"
  std::optional<std::string> python;
  std::optional<std::string> json;  // a file, or "-" for standard output
  std::optional<std::string> svg;   // a file
  std::vector<std::string> dims;    // "n=4"
  std::vector<std::string> modules;
};

void devices_command(const Common &common);
void list_command(const Common &common);
void describe_command(const Common &common, const std::string &name);
void info_command(const Common &common, const std::vector<std::string> &files, bool raw);
void run_command(const Common &common, const RunOptions &options);
void explain_command(const Common &common, const RunOptions &options);
void method_command(const Common &common, const MethodOptions &options);
void bench_command(const BenchOptions &options);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_COMMANDS_H
