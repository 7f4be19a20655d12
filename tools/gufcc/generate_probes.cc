// SPDX-License-Identifier: Apache-2.0
// Probes are compiled only after a failure, to report the cause in terms of the user's source.
#include <algorithm>

#include "entry_text.h"
#include "generate.h"

namespace gufunc::gufcc {
namespace {

constexpr char kHost[] = "host";

std::string counted(size_t count, const std::string &what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Returns a text such as "a group, 2 inputs, 1 output".
std::string describe_parameters(const Function &function, const Loop &loop) {
  std::vector<std::string> parts;
  if (loop.cooperative) parts.emplace_back("a group");
  if (!loop.inputs.empty()) parts.push_back(counted(loop.inputs.size(), "input"));
  if (loop.outputs.size() > (function.generalized() ? 0U : 1U)) {
    parts.push_back(counted(loop.outputs.size(), "output"));
  }
  if (loop.may_fail) parts.emplace_back("bool &failed");
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Returns the arguments of a call with the first `count` types, as writable references.
std::string references(const std::vector<std::string> &types, size_t count) {
  std::string list;
  for (size_t i = 0; i < count; ++i) {
    list +=
        fmt::format("{}{}", i == 0 ? "" : ", ", as_reference(types[std::min(i, types.size() - 1)]));
  }
  return list;
}

}  // namespace

std::vector<std::string> argument_types(const Function &function, const Loop &loop,
                                        const char *space) {
  std::vector<std::string> types;
  if (loop.cooperative) types.emplace_back("guf::single_thread");
  const std::string letters = loop.inputs + loop.outputs;
  const std::vector<std::string> operands = operand_types(function, loop, space);
  for (size_t i = 0; i < letters.size(); ++i) {
    const bool output = i >= loop.inputs.size();
    if (function.generalized()) {
      const char *packed = std::string_view(space) == "host" ? "<false>" : "";
      types.push_back(
          fmt::format("decltype({}::argument{}(nullptr, nullptr, nullptr))", operands[i], packed));
    } else if (!output || loop.outputs.size() > 1) {
      types.push_back(
          fmt::format("guf::value_t<{}>{}", find_letter(letters[i])->storage, output ? " &" : ""));
    }
  }
  if (loop.may_fail) types.emplace_back("bool &");
  return types;
}

std::string generate_probes(const std::string &source, const std::vector<LoopRef> &loops) {
  std::string text = fmt::format("#include {}\n#include <gufunc/kernel.hpp>\n", quoted(source));
  int number = 0;
  for (const auto &[function, loop] : loops) {
    std::vector<std::string> parameters, arguments;
    for (const std::string &type : argument_types(*function, *loop, kHost)) {
      arguments.push_back(fmt::format("x{}", arguments.size()));
      parameters.push_back(type + " " + arguments.back());
    }
    text += fmt::format("# {} {}\nvoid {}{}({}) {{ (void)::{}({}); }}\n", loop->place.line,
                        quoted(loop->place.file), kProbeName, number++, fmt::join(parameters, ", "),
                        loop->callee, fmt::join(arguments, ", "));
  }
  return text;
}

namespace {

// Templates for assertions about an elementwise function. guf_probe_type_converts is false if
// guf::cast cannot convert the result to the type of the output.
constexpr char kResults[] = R"(
template <class T> T guf_probe_value();
template <class R>
constexpr bool guf_probe_packed = !guf::is_same<R, guf::value_t<R>>::value;
template <class T> constexpr bool guf_probe_packed<guf::complex<T>> = true;
template <class T> struct guf_probe_real { typedef T type; };
template <class T> struct guf_probe_real<guf::complex<T>> { typedef T type; };
template <class R, class T> constexpr auto guf_probe_converts(int)
    -> decltype((void)(typename guf_probe_real<T>::type)guf_probe_value<R>(), true) { return true; }
template <class R, class T> constexpr bool guf_probe_converts(long) {
  return guf_probe_packed<R> && !guf::is_time<T>::value;
}
template <class R, class T> constexpr bool guf_probe_type_converts =
    guf::has_fast_path<R>::value || guf_probe_converts<R, T>(0);
// The type of a function; guf_probe_no_type for templates and overloaded functions.
struct guf_probe_no_type {};
template <class F> struct guf_probe_function { typedef guf_probe_no_type type; };
template <class R, class... A> struct guf_probe_function<R (*)(A...)> { typedef R type(A...); };
template <class T> struct guf_probe_pointer {
  template <class R, class... A> static auto of(R (*f)(A...)) -> R (*)(A...);
};
template <class F, class> constexpr bool guf_probe_type_unknown =
    guf::is_same<F, guf_probe_no_type>::value;
)";

// Returns an assertion that an elementwise function accepts the arguments that its loop passes.
// `is_called` is a condition that is true if the function accepts these arguments, or if it expects
// another number of arguments, because that error has its own message.
std::string signature_probe(const Loop &loop, const std::string &name,
                            const std::string &is_called) {
  std::vector<std::string> parameters;
  for (const char letter : loop.inputs) parameters.emplace_back(find_letter(letter)->name);
  for (const char letter : loop.outputs) {
    if (loop.outputs.size() > 1)
      parameters.push_back(fmt::format("guf::out of {}", find_letter(letter)->name));
  }
  if (loop.may_fail) parameters.emplace_back("bool &failed");
  return fmt::format(
      "template <class T> auto {0}_pointer(int) -> decltype(guf_probe_pointer<T>::of(&::{1}));\n"
      "template <class T> guf_probe_no_type {0}_pointer(long);\n"
      "constexpr bool {0}_is_called = {4};\n"
      "# {2} {3}\nstatic_assert(guf_probe_type_unknown<typename guf_probe_function<decltype("
      "{0}_pointer<int>(0))>::type, int> || {0}_is_called, \"{5}{1}: expected parameters ({6}) for "
      "loop "
      "'{7}->{8}', got '{9}'; {10}\");\n# 1 \"{11}\"\n",
      name, loop.callee, loop.place.line, quoted(loop.place.file), is_called, kCallMark,
      fmt::join(parameters, ", "), loop.inputs, loop.outputs, kResultType,
      loop.outputs.size() > 1
          ? "declare them so, or make the function a template, with outputs guf::out<T>"
          : "declare them so and return the output, or make the function a template",
      kEntriesFile);
}

// Returns an assertion about the result type of a call whose parameters are correct.
std::string result_probe(const Loop &loop, const std::string &arguments) {
  const TypeLetter &output = *find_letter(loop.outputs[0]);
  return fmt::format(
      "# {} {}\nstatic_assert(guf_probe_type_converts<decltype(::{}({})), guf::value_t<{}>>, "
      "\"{}{}: expected a result "
      "that converts to {} for loop '{}->{}', got one of type '{}'\");\n# 1 \"{}\"\n",
      loop.place.line, quoted(loop.place.file), loop.callee, arguments, output.storage, kCallMark,
      loop.callee, output.name, loop.inputs, loop.outputs, kResultType, kEntriesFile);
}

}  // namespace

std::string generate_call_probes(const std::string &source, const std::vector<LoopRef> &loops,
                                 const char *space) {
  constexpr size_t kFurther = 4;
  std::string text = fmt::format("#include {}\n#include <gufunc/kernel.hpp>\n# 1 \"{}\"\n{}",
                                 quoted(source), kEntriesFile, kResults);
  int number = 0;
  for (const auto &[function, loop] : loops) {
    const std::string name = fmt::format("{}{}", kProbeName, number++);
    const std::vector<std::string> types = argument_types(*function, *loop, space);
    text += fmt::format(
        "template <class... A> constexpr auto {0}(int) -> decltype((void)::{1}("
        "guf_probe_value<A>()...), true) {{ return true; }}\n"
        "template <class... A> constexpr bool {0}(long) {{ return false; }}\n",
        name, loop->callee);
    std::string is_called = fmt::format("{}<{}>(0)", name, references(types, types.size()));
    for (size_t count = 0; !types.empty() && count <= types.size() + kFurther; ++count) {
      if (count == types.size()) continue;
      is_called += fmt::format(" || {}<{}>(0)", name, references(types, count));
      text += fmt::format(
          "# {} {}\nstatic_assert({}<{}>(0) || !{}<{}>(0), \"{}{}: expected {} for loop "
          "'{}->{}' ({}), got {}\");\n# 1 \"{}\"\n",
          loop->place.line, quoted(loop->place.file), name, references(types, types.size()), name,
          references(types, count), kCallMark, loop->callee, counted(types.size(), "parameter"),
          loop->inputs, loop->outputs, describe_parameters(*function, *loop), count, kEntriesFile);
    }
    if (function->generalized()) continue;
    text += signature_probe(*loop, name, is_called);
    if (loop->outputs.size() != 1) continue;
    std::vector<std::string> arguments;
    arguments.reserve(types.size());
    for (const std::string &type : types) {
      arguments.push_back(fmt::format("guf_probe_value<{}>()", as_reference(type)));
    }
    text += result_probe(*loop, fmt::format("{}", fmt::join(arguments, ", ")));
  }
  return text;
}

}  // namespace gufunc::gufcc
