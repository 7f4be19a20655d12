// SPDX-License-Identifier: Apache-2.0
// Generates translation units that are compiled only to check the sources.
//
// Probes are compiled after a failure, to report the cause in terms of the user's source.
//
// Rules are compiled for each unit of the module. Their translation unit does not compile if the
// source breaks a rule of some backend. It contains static assertions about parameters and results,
// and a device function that calls each registered function once.
#include <algorithm>

#include "entry_text.h"
#include "generate.h"
#include "kernel_entries.h"
#include "refused_names.h"

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

// Returns a list of `count` types, as writable references. If `count` is larger than the number of
// types, the last type is repeated.
std::string references(const std::vector<std::string> &types, size_t count) {
  std::string list;
  for (size_t i = 0; i < count; ++i) {
    list +=
        fmt::format("{}{}", i == 0 ? "" : ", ", as_reference(types[std::min(i, types.size() - 1)]));
  }
  return list;
}

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
    guf::has_two_paths<R>::value || guf_probe_converts<R, T>(0);
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
// a different number of arguments, because that error has its own message.
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

// guf_probe_only<T> converts only to T, so only a parameter of type T accepts it. If the value is
// passed in braces, no template argument can be deduced from it, so a function template does not
// accept it. guf_probe_ref<T> is not a T but converts to T &.
constexpr char kParameters[] = R"(
struct guf_probe_any { template <class T> operator T() const; };
template <class T> struct guf_probe_only {
  template <class U, class = typename guf::enable_if<guf::is_same<T, U>::value>::type>
  operator U() const;
};
template <class T> struct guf_probe_ref { operator T &() const; };
struct guf_probe_none {};
template <class P> constexpr auto guf_probe_parameter() { return guf_probe_none(); }
template <class P, class T, class... More> constexpr auto guf_probe_parameter() {
  if constexpr (P::template takes<guf_probe_only<T> &>(0)) return T();
  else return guf_probe_parameter<P, More...>();
}
template <class T> constexpr bool guf_probe_is_float = guf::is_float<T>::value;
template <class T> constexpr bool guf_probe_is_bool = guf::is_same<T, bool>::value;
template <class T> constexpr bool guf_probe_is_integer = !guf_probe_is_float<T>;
template <> constexpr bool guf_probe_is_integer<guf_probe_none> = false;
template <class T> constexpr bool guf_probe_is_integer<guf::complex<T>> = false;
template <> constexpr bool guf_probe_is_integer<guf::datetime> = false;
template <> constexpr bool guf_probe_is_integer<guf::timedelta> = false;
template <class T> constexpr bool guf_probe_is_complex = false;
template <class T> constexpr bool guf_probe_is_complex<guf::complex<T>> = true;
// The number of bits of a value, without its sign.
template <class T> constexpr int guf_probe_digits =
    guf_probe_is_bool<T> ? 1
    : guf_probe_is_float<T> ? (sizeof(T) == 4 ? 24 : 64)
    : (int)sizeof(T) * 8 - (T(-1) < T(0) ? 1 : 0);
// Whether a parameter of type P can hold every argument of type A, by NumPy's safe casting.
template <class P, class A> constexpr bool guf_probe_holds() {
  if constexpr (guf::is_same<P, A>::value) return true;
  else if constexpr (guf::is_same<P, guf_probe_none>::value) return true;
  else if constexpr (guf_probe_is_complex<A>) {
    return guf_probe_is_complex<P> && sizeof(A) <= sizeof(P);
  } else if constexpr (guf_probe_is_complex<P>) {
    return guf_probe_holds<typename guf_probe_real<P>::type, A>();
  }
  else if constexpr (guf_probe_is_float<P> && guf_probe_is_float<A>) return sizeof(A) <= sizeof(P);
  else if constexpr (guf_probe_is_float<P> && guf_probe_is_integer<A>) {
    return guf_probe_digits<A> <= guf_probe_digits<P>;
  } else if constexpr (guf_probe_is_integer<P> && guf_probe_is_float<A>) return false;
  else if constexpr (guf_probe_is_integer<P> && guf_probe_is_integer<A>) {
    return guf_probe_digits<A> <= guf_probe_digits<P> &&
           (guf_probe_is_bool<A> || !(A(-1) < A(0)) || P(-1) < P(0));
  } else return true;
}
template <class P, class A> constexpr auto guf_probe_type_of() {
  if constexpr (!P::template takes<guf_probe_any &>(0)) return guf_probe_none();
  else {
    // Complex numbers come first, because real numbers convert to them.
    typedef decltype(guf_probe_parameter<P, guf::c64, guf::c128, float, double, int, long,
                                         unsigned, unsigned long, bool, char, signed char,
                                         unsigned char, short, unsigned short, long long,
                                         unsigned long long>()) found;
    if constexpr (guf_probe_holds<found, A>()) return found();
    else if constexpr (P::template is_overloaded<guf_probe_only<guf_probe_none>>(0))
      return guf_probe_none();
    else return found();
  }
}
template <class P, class A> constexpr bool guf_probe_type_fits = guf_probe_holds<P, A>();
// Whether a result of type R is at least as wide as the loop's output of type T. A result of
// another kind is accepted, because the author chose it.
template <class R, class T> struct guf_probe_width { static constexpr bool holds = true; };
template <> struct guf_probe_width<float, double> { static constexpr bool holds = false; };
template <> struct guf_probe_width<float, guf::c128> { static constexpr bool holds = false; };
template <> struct guf_probe_width<guf::c64, guf::c128> { static constexpr bool holds = false; };
template <class R, class T> constexpr bool guf_probe_is_wide() {
  if constexpr (guf_probe_is_bool<R> || guf_probe_is_float<R> || guf_probe_is_float<T>) {
    return guf_probe_width<R, T>::holds;
  } else if constexpr (__is_integral(R) && __is_integral(T)) return sizeof(R) >= sizeof(T);
  else return guf_probe_width<R, T>::holds;
}
template <class R, class T> constexpr bool guf_probe_type_wide = guf_probe_is_wide<R, T>();
// A template of one argument that returns its argument's type is a cast: the loop converts.
template <class R, class P, class A> constexpr bool guf_probe_is_cast() {
  if constexpr (guf::is_same<R, A>::value) {
    return guf::is_same<decltype(guf_probe_type_of<P, A>()), guf_probe_none>::value;
  } else return false;
}
template <class R, class Loop> constexpr bool guf_probe_type_wide_or_cast =
    guf_probe_is_wide<R, typename Loop::result>() ||
    guf_probe_is_cast<R, typename Loop::parameter, typename Loop::argument>();
)";

class LoopRules {
 public:
  LoopRules(const Function &function, const Loop &loop, const char *space, int number)
      : function_(function),
        loop_(loop),
        number_(number),
        types_(argument_types(function, loop, space)) {}

  std::string text() const {
    std::string text;
    const size_t first = loop_.cooperative ? 1 : 0;
    for (size_t i = 0; i < loop_.inputs.size(); ++i) {
      if (function_.generalized() && !function_.core_dims[i].empty()) continue;
      if (function_.generalized() && function_.roles[i] != Role::kIn) continue;
      text += input(first + i, i);
    }
    if (!function_.generalized() && loop_.outputs.size() > 1) {
      for (size_t i = 0; i < loop_.outputs.size(); ++i) {
        text += output(loop_.inputs.size() + i, fmt::format("output {}", i + 1), "guf::out<T>");
      }
    }
    if (loop_.may_fail) text += output(types_.size() - 1, "the flag", "bool &failed");
    if (!function_.generalized() && loop_.outputs.size() == 1) text += result();
    return text;
  }

 private:
  std::string name_of(size_t parameter) const {
    return fmt::format("{}{}_{}", kProbeName, number_, parameter);
  }
  std::string line() const {
    return fmt::format("# {} {}\n", loop_.place.line, quoted(loop_.place.file));
  }
  std::string require(const std::string &condition, const std::string &complaint) const {
    return line() + fmt::format("static_assert({}, \"{}{}: {}\");\n# 1 \"{}\"\n", condition,
                                kCallMark, loop_.callee, complaint, kEntriesFile);
  }
  std::string loop_name() const { return fmt::format("'{}->{}'", loop_.inputs, loop_.outputs); }

  // Returns a struct whose takes<A>(0) reports whether the function accepts an argument of type A
  // for the parameter with the index `parameter`.
  std::string taker(size_t parameter, bool in_braces) const {
    std::string arguments;
    for (size_t i = 0; i < types_.size(); ++i) {
      if (i > 0) arguments += ", ";
      const std::string value = i == parameter
                                    ? "guf_probe_value<A>()"
                                    : fmt::format("guf_probe_value<{}>()", as_reference(types_[i]));
      arguments += i == parameter && in_braces ? "{" + value + "}" : value;
    }
    std::string proxies;  // arguments that only a template accepts, for is_overloaded
    for (size_t i = 0; i < types_.size(); ++i) {
      const bool is_input = i < loop_.inputs.size();
      proxies += fmt::format("{}guf_probe_value<{}>()", i == 0 ? "" : ", ",
                             is_input ? "A" : as_reference(types_[i]));
    }
    return fmt::format(
        "struct {0} {{ template <class A> static constexpr auto is_overloaded(int) -> decltype("
        "(void)::{1}({3}), true) {{ return true; }}\n"
        "template <class A> static constexpr bool is_overloaded(long) {{ return false; }}\n"
        "template <class A> static constexpr auto takes(int) -> decltype((void)::{1}"
        "({2}), true) {{ return true; }}\n"
        "template <class A> static constexpr bool takes(long) {{ return false; }} }};\n",
        name_of(parameter), loop_.callee, arguments, proxies);
  }

  std::string input(size_t parameter, size_t operand) const {
    const TypeLetter &letter = *find_letter(loop_.inputs[operand]);
    const std::string advice =
        number_of_types() > 1 ? ", or register it for its own types alone" : "";
    return taker(parameter, true) +
           require(fmt::format(
                       "guf_probe_type_fits<decltype(guf_probe_type_of<{}, guf::value_t<{}>>()), "
                       "guf::value_t<{}>>",
                       name_of(parameter), letter.storage, letter.storage),
                   fmt::format("parameter {} is '{}', too narrow for the {} that loop {} passes; "
                               "make the function a template of its type{}",
                               parameter + 1, kResultType, letter.name, loop_name(), advice));
  }

  std::string output(size_t parameter, const std::string &what, const std::string &spelling) const {
    const std::string takes = name_of(parameter) + "::template takes";
    const std::string type = types_[parameter].substr(0, types_[parameter].rfind(" &"));
    std::string by_value =
        taker(parameter, false) +
        require(fmt::format("!{}<{}>(0)", takes, type),
                fmt::format("{} is parameter {}, which is passed by value, so nothing is written; "
                            "declare it {}",
                            what, parameter + 1, spelling));
    // The second assertion would fail for the names of C's mathematical functions, for which the
    // dialect has templates that accept every type (no_std_math.hpp).
    if (advice_for_function(loop_.callee).starts_with("use ")) return by_value;
    return by_value +
           require(fmt::format("!{0}<{1} &>(0) || {0}<guf_probe_ref<{1}>>(0) || {0}<{1}>(0)", takes,
                               type),
                   fmt::format("{} is parameter {}, a reference whose type is deduced, which "
                               "devices with address spaces lack; declare it {}",
                               what, parameter + 1, spelling));
  }

  // Returns an assertion about the result of a call. The assertion is true if the call does not
  // compile, because other checks report that error.
  std::string result() const {
    const TypeLetter &letter = *find_letter(loop_.outputs[0]);
    const bool may_cast = loop_.inputs.size() == 1 && loop_.inputs != loop_.outputs;
    std::string arguments;
    for (const std::string &type : types_) {
      arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", as_reference(type));
    }
    return fmt::format(
               "template <class... A> auto {0}{1}_result(int) -> decltype(::{2}"
               "(guf_probe_value<A>()...));\n"
               "template <class... A> guf_probe_none {0}{1}_result(long);\n",
               kProbeName, number_, loop_.callee) +
           (may_cast ? unary_loop(letter) : "") +
           require(fmt::format("guf_probe_type_wide{}<decltype({}{}_result<{}>(0)), {}>",
                               may_cast ? "_or_cast" : "", kProbeName, number_, arguments,
                               may_cast ? fmt::format("{}{}_loop", kProbeName, number_)
                                        : fmt::format("guf::value_t<{}>", letter.storage)),
                   fmt::format("the result of type '{}' is narrower than the {} of loop {}; "
                               "return that, or make the function a template of its type",
                               kResultType, letter.name, loop_name()));
  }

  // The template argument that guf_probe_type_wide_or_cast requires for a loop with one input.
  std::string unary_loop(const TypeLetter &output) const {
    return fmt::format(
        "struct {}{}_loop {{ typedef guf::value_t<{}> result; typedef guf::value_t<{}> argument; "
        "typedef {} parameter; }};\n",
        kProbeName, number_, output.storage, find_letter(loop_.inputs[0])->storage, name_of(0));
  }

  size_t number_of_types() const { return function_.loops.size(); }

  const Function &function_;
  const Loop &loop_;
  const int number_;
  const std::vector<std::string> types_;
};

// Returns a function that calls the user's function once. If it is a device function, the compiler
// checks every function that the call reaches as device code.
std::string called_once(const Function &function, const Loop &loop, const char *space, int number) {
  const std::string callee = fmt::format("{}{}", kCalleeName, number);
  std::vector<std::string> parameters, arguments;
  for (const std::string &type : argument_types(function, loop, space)) {
    arguments.push_back(fmt::format("x{}", arguments.size()));
    parameters.push_back(type + " " + arguments.back());
  }
  return callee_struct(loop, callee) +
         fmt::format("GUF_DEVICE_ONLY_PROBE void {0}call_{1}({2}) {{ (void){3}::call({4}); }}\n",
                     kProbeName, number, fmt::join(parameters, ", "), callee,
                     fmt::join(arguments, ", "));
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
  std::string text = include_lines(source, loops);
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

std::string generate_call_probes(const std::string &source, const std::vector<LoopRef> &loops,
                                 const char *space) {
  constexpr size_t kFurther = 4;
  std::string text =
      include_lines(source, loops) + fmt::format("# 1 \"{}\"\n{}", kEntriesFile, kResults);
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

std::string generate_rules(const std::string &source, const std::vector<LoopRef> &loops,
                           const std::vector<const RawKernel *> &kernels, bool on_devices) {
  const char *space = on_devices ? "device" : "host";
  std::string text =
      generate_call_probes(source, loops, space) + kernel_call_probes(kernels) + kParameters;
  text += fmt::format("#define GUF_DEVICE_ONLY_PROBE {}\n",
                      on_devices ? "__attribute__((device))" : "");
  int number = 0;
  for (const auto &[function, loop] : loops) {
    text += LoopRules(*function, *loop, space, number).text();
    text += called_once(*function, *loop, space, number++);
  }
  for (const RawKernel *kernel : kernels) {
    const std::string callee = fmt::format("{}{}", kCalleeName, number++);
    text += device_kernel_callee(*kernel, callee);
    text += fmt::format(
        "__attribute__((device)) void {0}call_{1}(const {2}::arguments &p, char *shared) {{ (void)"
        "shared; {2}::call(p{3}); }}\n",
        kProbeName, number, callee, kernel->declares_shared ? ", shared" : "");
  }
  return text;
}

}  // namespace gufunc::gufcc
