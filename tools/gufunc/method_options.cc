// SPDX-License-Identifier: Apache-2.0
// Defines the command line options of each method.
#include "method_options.h"

#include "parse_errors.h"

namespace gufunc::cli {
namespace {

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

}  // namespace

void add_text(CLI::App &app, const char *name, std::optional<std::string> &value,
              const std::string &help) {
  app.add_option_function<std::string>(
      name, [&value](const std::string &text) { value = text; }, help);
}

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

}  // namespace gufunc::cli
