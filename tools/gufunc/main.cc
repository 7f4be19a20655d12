// SPDX-License-Identifier: Apache-2.0
// gufunc: applies ufuncs to .npy files from the command line. Defines the options of all commands.
#include <fmt/format.h>
#include <gufunc/gufunc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "call_parts.h"
#include "commands.h"
#include "fatal_signals.h"
#include "outcome.h"
#include "parse_errors.h"
#include "terminal.h"

namespace gufunc::cli {
namespace {

constexpr const char *kFooter =
    "Exit codes: 0 success, 2 usage error, 3 file error, 4 rejected call (names, types, shapes, "
    "values),\n"
    "5 unavailable backend, device or kernel, 6 run-time failure (memory, open files, launch).";

constexpr const char *kSignatureHelp =
    "Types of the loop, one per operand: \"dd->d\", or \"f8,None,f8\" with None for any";
constexpr const char *kWhereHelp =
    "Mask: a bool .npy file, or True or False; where it is False a new result is 0";
constexpr const char *kFpFlagsHelp =
    "Floating-point flags: ignore, report or fail, for all or as in over=fail,divide=report";

// Protects arguments that CLI11 would misread: it reads "-2" as an option and "[1,2]" as two
// arguments. An argument that is not an option, and everything after "--", gets a prefix byte that
// users do not type; shown() removes it. The value of an option is joined to it as "--axis=-1".
std::vector<std::string> hidden(const CLI::App &command, int argc, char **argv) {
  std::vector<std::string> arguments;
  bool options = true, command_seen = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (options && argument == "--") {
      options = false;
    } else if (!command_seen && command.check_name(argument)) {
      command_seen = true;
      arguments.push_back(argument);
    } else if (options && takes_value(command, argument) && i + 1 < argc) {
      const std::string value = argv[++i];
      const bool joined = is_negative_number(value);
      if (!joined) arguments.push_back(argument);
      arguments.push_back(joined ? argument + (argument.starts_with("--") ? "=" : "") + value
                                 : value);
    } else if (!options || is_negative_number(argument) || argument.starts_with('[')) {
      arguments.push_back(kHidden + argument);
    } else {
      arguments.push_back(argument);
    }
  }
  return {arguments.rbegin(), arguments.rend()};  // CLI11 expects the last argument first
}

// Adds an option whose value may be empty: CLI11 itself treats an empty value as no value.
void add_text(CLI::App &app, const char *name, std::optional<std::string> &value,
              const std::string &help) {
  app.add_option_function<std::string>(
      name, [&value](const std::string &text) { value = text; }, help);
}

// Adds the options of run and explain.
void add_call_options(CLI::App &app, RunOptions &run) {
  app.add_option("name", run.name, "Ufunc, such as add or module:name")
      ->required()
      ->transform(shown);
  app.add_option("input", run.inputs,
                 "Files (.npy, x.npz:a, - for stdin) and literals: 2 (weak), f4:2 (strong), 1+2j, "
                 "True, M8[D]:2020-01-31")
      ->transform(shown);
  app.add_option("--into", run.into,
                 "Existing .npy file that receives an output; its shape and dtype are kept; once "
                 "per output")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  app.add_option("--dim", run.dims, "Size of a core dimension that only outputs have: n=4")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  add_text(app, "--device", run.device, "cpu, cuda:0, roc:0 or auto");
  add_text(app, "--dtype", run.dtype, "Dtype that the outputs of the loop must have");
  add_text(app, "--casting", run.casting, "no, equiv, safe, same_kind or unsafe");
  add_text(app, "--where", run.where, kWhereHelp);
  app.add_option("--order", run.order, "Layout of new outputs: K, A, C or F");
  add_text(app, "--axis", run.axis, "Axis of the only core dimension");
  add_text(app, "--axes", run.axes,
           "Axes of each operand's core dimensions: \"(0,1),(1,2),(0,1)\"");
  add_text(app, "--signature", run.signature, kSignatureHelp);
  add_text(app, "--fp-flags", run.fp_flags, kFpFlagsHelp);
  add_text(app, "--threads", run.threads, "Number of threads (cpu); 0: the backend chooses");
  app.add_flag("--keepdims", run.keepdims, "Keep reduced core dimensions with extent 1");
  app.add_flag("--inplace", run.inplace, "Write the result over the first input file");
  app.add_flag("--raw", run.raw, "Read and write bfloat16 as raw two-byte elements (V2)");
}

void add_run_options(CLI::App &app, RunOptions &run) {
  add_call_options(app, run);
  app.add_option(
         "-o,--output,--out", run.outputs,
         "New file, once per output: .npy, x.npz:a, - for stdout; without -o, results are printed")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  add_text(app, "--chunk", run.chunk,
           "Compute in chunks of this size (64K, 8M, 1G), so that files may be larger than memory");
  app.add_flag("--time", run.time, "Report device, seconds and bytes per second on stderr");
}

// Adds a string option that may be repeated, with one value each: --indices a.npy --indices b.npy.
void add_list(CLI::App &app, const char *names, std::vector<std::string> &values,
              const char *text) {
  app.add_option(names, values, text)->take_all()->expected(1)->allow_extra_args(false);
}

void add_every(CLI::App &app, MethodOptions &method) {
  add_list(
      app, "-o,--output,--out", method.outputs,
      "New file, once per result: .npy, x.npz:a, - for stdout; without -o, results are printed");
  add_text(app, "--device", method.device, "cpu, cuda:0, roc:0 or auto");
  add_text(app, "--threads", method.threads, "Number of threads (cpu); 0: the backend chooses");
  add_text(app, "--fp-flags", method.fp_flags, kFpFlagsHelp);
  app.add_flag("--raw", method.raw, "Read and write bfloat16 as raw two-byte elements (V2)");
  app.add_flag(
      "--explain", method.explain,
      "Describe what the method would do: loop, casts, shapes, order, threads, rejected loops");
  app.add_flag("--time", method.time, "Report device, seconds and bytes per second on stderr");
}

void add_result(CLI::App &app, MethodOptions &method) {
  add_list(
      app, "--into", method.into,
      "Existing .npy file that receives a result; its shape and dtype are kept; once per result");
  add_text(app, "--dtype", method.dtype, "Dtype in which the loop computes");
  app.add_option("--order", method.order, "Layout of a new result: K, A, C or F");
}

CLI::App *add_method(CLI::App &app, MethodOptions &method, const char *name, const char *text,
                     const char *inputs, int least, int most) {
  CLI::App *const command = app.add_subcommand(name, text);
  command->add_option("name", method.name, "Ufunc, such as add or module:name")
      ->required()
      ->transform(shown);
  command->add_option("input", method.inputs, inputs)
      ->required()
      ->expected(least, most)
      ->transform(shown);
  command->final_callback([&method, name] { method.method = name; });
  add_every(*command, method);
  return command;
}

// Adds the subcommands reduce, accumulate, reduceat, outer and at. The chosen one writes its name
// and option values into `method`.
std::vector<CLI::App *> add_methods(CLI::App &app, MethodOptions &method) {
  const char *const input = ".npy file or literal";
  CLI::App *const reduce =
      add_method(app, method, "reduce", "Reduce an array along axes", input, 1, 1);
  add_text(*reduce, "--axis", method.axis, "Axis (default 0), several (0,2), none for all, ()");
  reduce->add_flag("--keepdims", method.keepdims, "Keep reduced axes with extent 1");
  add_text(*reduce, "--initial", method.initial,
           "Initial value of every result: a literal, a 0-d file, or none");
  add_text(*reduce, "--where", method.where,
           "Mask that selects the elements to reduce: a bool file");
  add_list(*reduce, "--parameter", method.parameters,
           "A parameter of a reduction, such as ddof of var: a literal");
  add_result(*reduce, method);

  CLI::App *const accumulate =
      add_method(app, method, "accumulate", "All partial results along an axis", input, 1, 1);
  add_text(*accumulate, "--axis", method.axis, "Axis (default 0)");
  add_result(*accumulate, method);

  CLI::App *const reduceat =
      add_method(app, method, "reduceat", "Reduce slices of an axis", input, 1, 1);
  add_text(*reduceat, "--axis", method.axis, "Axis (default 0)");
  add_list(*reduceat, "--indices", method.indices,
           "Start of each slice: a 1-d .npy file, or 0,3,5");
  reduceat->get_option("--indices")->required();
  add_result(*reduceat, method);

  CLI::App *const outer = add_method(app, method, "outer", "Apply a ufunc to all pairs",
                                     "Two .npy files or literals", 2, 2);
  add_text(*outer, "--casting", method.casting, "no, equiv, safe, same_kind or unsafe");
  add_text(*outer, "--signature", method.signature, kSignatureHelp);
  add_text(*outer, "--where", method.where, kWhereHelp);
  add_result(*outer, method);

  CLI::App *const at =
      add_method(app, method, "at", "Apply a ufunc at indices; repeated indices count each time",
                 "The array, and the second operand of a binary ufunc", 1, 2);
  add_list(*at, "--indices", method.indices,
           "Indices of the next axis: a .npy file, or 0,3,5; once per axis");
  at->add_flag("--inplace", method.inplace, "Write the result over the array's file");
  return {reduce, accumulate, reduceat, outer, at};
}

// Adds a string option that keeps its default value unless it is given.
void add_default(CLI::App &app, const char *name, std::string &value, const std::string &help) {
  app.add_option_function<std::string>(
      name, [&value](const std::string &text) { value = text; }, help + "; default " + value);
}

CLI::App *add_bench(CLI::App &app, BenchOptions &bench) {
  CLI::App *const command = app.add_subcommand(
      "bench", "Time a ufunc beside NumPy, Numba, PyTorch and CuPy; lists are separated by commas");
  command->add_option("name", bench.name, "Ufunc, such as add or module:name; not an expression")
      ->required()
      ->transform(shown);
  add_default(*command, "--method", bench.methods, "Methods: call, reduce, accumulate");
  add_text(*command, "--dtype", bench.dtypes,
           "Dtypes of the inputs, also as f16, f32, f64, c64, c128; default float64, or a dtype "
           "that has a loop");
  add_default(*command, "--size", bench.sizes, "Elements: 1000, 1e6; or shapes: 1000x1000");
  add_default(*command, "--layout", bench.layouts,
              "Layouts: contiguous, strided, broadcast, transposed");
  add_default(*command, "--device", bench.devices, "Devices: cpu, cuda:0, roc:0");
  add_default(*command, "--threads", bench.threads,
              "Numbers of threads (cpu); 0: each library chooses");
  add_text(*command, "--axis", bench.axis,
           "Axis of reduce and accumulate, or none for all; default 0");
  add_list(*command, "--dim", bench.dims, "Size of a core dimension: n=4");
  add_default(*command, "--peers", bench.peers,
              "Other libraries: numpy, numba, torch, cupy; or none");
  add_text(*command, "--python", bench.python, "Python that runs the peers; default python3");
  add_default(*command, "--seconds", bench.seconds, "Seconds per row of the table");
  add_text(*command, "--values", bench.values,
           "Values of the inputs, LOW:HIGH; default: suited to the function");
  add_text(*command, "--memory", bench.memory,
           "Most memory for operands (4G); default: half of the available memory");
  add_text(*command, "--json", bench.json, "Write the results to a JSON file; - for stdout");
  add_text(*command, "--svg", bench.svg, "Write a plot to an SVG file");
  add_default(*command, "--plot", bench.plot, "What the plot shows: throughput or time");
  add_list(*command, "--module", bench.modules, "Module file made by gufcc");
  return command;
}

void add_common(CLI::App &app, Common &common) {
  app.add_flag("--json", common.json, "Print JSON");
  app.add_option("--module", common.modules, "Module file made by gufcc")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
}

// Prints the --help text of the program, or of the named command.
void print_help(const CLI::App &app, const std::vector<std::string> &words) {
  if (words.size() > 1)
    usage(fmt::format("help: expected one command, got {} words", words.size()));
  // App::help() would describe the chosen command, which is `help` itself.
  const auto print = [&](const CLI::App &command, const std::string &name) {
    fmt::print("{}", app.get_formatter()->make_help(&command, name, CLI::AppFormatMode::Normal));
  };
  if (words.empty()) return print(app, app.get_name());
  const auto names = app.get_subcommands(nullptr);
  const auto found = std::find_if(names.begin(), names.end(), [&](const CLI::App *command) {
    return command->get_name() == words[0];
  });
  if (found == names.end()) refuse_command(app, words[0]);
  print(**found, app.get_name() + " " + words[0]);
}

void flush_output() {
  std::cout.flush();
  if (!std::cout.good() || std::fflush(stdout) != 0)
    throw Failure(Exit::kFile, "cannot write to standard output");
}

int run(int argc, char **argv) {
  CLI::App app{"NumPy's universal functions on arrays in files.", "gufunc"};
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("gufunc ") + guf_version_string());
  app.require_subcommand(1);
  Common common;
  RunOptions options;
  std::string described;

  CLI::App *const devices = app.add_subcommand(
      "devices", "List backends and devices, with the reason if one is not usable");
  CLI::App *const list = app.add_subcommand("list", "List ufuncs");
  CLI::App *const describe = app.add_subcommand("describe", "Describe a ufunc and its loops");
  CLI::App *const run = app.add_subcommand("run", "Apply a ufunc to arrays");
  CLI::App *const explain = app.add_subcommand(
      "explain", "Describe what run would do: loop, casts, shapes, plan, and rejected loops");
  MethodOptions method;
  const std::vector<CLI::App *> methods = add_methods(app, method);
  for (CLI::App *const command : {devices, list, describe, run, explain})
    add_common(*command, common);
  for (CLI::App *const command : methods) add_common(*command, common);
  describe->add_option("name", described, "Ufunc")->required()->transform(shown);
  BenchOptions measured;
  const CLI::App *const bench = add_bench(app, measured);
  CLI::App *const info = app.add_subcommand("info", "Describe files: .npy, .npz, modules");
  std::vector<std::string> files;
  bool raw = false;
  info->add_option("file", files, "Files, - for stdin")->required()->transform(shown);
  info->add_flag("--raw", raw, "Read V2 as bfloat16");
  info->add_flag("--json", common.json, "Print JSON");
  add_run_options(*run, options);
  add_call_options(*explain, options);

  CLI::App *const help = app.add_subcommand("help", "Print help for gufunc or for a command");
  std::vector<std::string> topic;
  help->add_option("command", topic, "The command")->transform(shown);

  const CLI::App &command = *chosen_command(app, argc, argv);
  refuse_unknown_options(app, command, argc, argv);
  try {
    app.parse(hidden(command, argc, argv));
  } catch (const CLI::Success &success) {  // --help, --version
    app.exit(success);
    flush_output();
    return 0;
  } catch (const CLI::ParseError &error) {
    if (&command == &app) refuse_command(app, "");
    usage(fmt::format("{}; see 'gufunc {} --help'", shown(error.what()), command.get_name()));
  }
  if (*help) print_help(app, topic);
  // Until here, the handler that install() sets ends the program if memory runs out: streams ignore
  // std::bad_alloc, and --help would print an incomplete text. From here on, operator new throws
  // std::bad_alloc, which is caught.
  std::set_new_handler(nullptr);
  if (*devices) devices_command(common);
  if (*list) list_command(common);
  if (*describe) describe_command(common, described);
  if (*info) info_command(common, files, raw);
  if (*run) run_command(common, options);
  if (*explain) explain_command(common, options);
  if (!method.method.empty()) method_command(common, method);
  if (*bench) bench_command(measured);
  flush_output();
  return 0;
}

// Prints the warnings that the library logged. Informational messages, such as why a backend is
// unusable, are left out: `devices` prints them.
void print_log() {
  constexpr int32_t kWarning = 1;
  char text[1024];
  int32_t level = -1;
  while (guf_log_read(text, sizeof text, &level, nullptr) == GUF_OK && level >= 0) {
    if (level <= kWarning) report("gufunc: warning: {}", text);
  }
}

int run_and_report(int argc, char **argv) {
  try {
    return run(argc, argv);
  } catch (const Failure &failure) {
    report("gufunc: {}", failure.what());
    return static_cast<int>(failure.code());
  } catch (const std::bad_alloc &) {
    std::fputs("gufunc: out of memory\n", stderr);
  } catch (const std::exception &error) {
    report("gufunc: {}", error.what());
  }
  return static_cast<int>(Exit::kRunTime);
}

// Reports memory exhaustion where no handler can catch it (before main or in a destructor). The
// program exits with a code instead of calling std::terminate.
[[noreturn]] void end_out_of_memory() {
  constexpr char kText[] = "gufunc: out of memory\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  remove_temporaries();
  ::_exit(static_cast<int>(Exit::kRunTime));
}

void end_uncaught() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc &) {
    end_out_of_memory();
  } catch (...) {
    std::abort();
  }
  std::abort();
}

// Runs before the initializers of all libraries.
void install() {
  std::set_new_handler(end_out_of_memory);
  std::set_terminate(end_uncaught);
}

__attribute__((section(".preinit_array"), used)) void (*const kInstaller)() = install;

}  // namespace
}  // namespace gufunc::cli

int main(int argc, char **argv) {
  constexpr uint64_t kSecond = 1'000'000'000;
  gufunc::cli::handle_fatal_signals();
  const int code = gufunc::cli::run_and_report(argc, argv);
  guf_shutdown(kSecond, nullptr);  // completes a trace
  gufunc::cli::print_log();
  return code;
}
