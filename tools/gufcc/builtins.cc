// SPDX-License-Identifier: Apache-2.0
// Allows the builtin functions that clang has for every processor and that nvcc and g++ have too.
// All other builtin functions are refused, because new ones appear with each compiler release.
#include "builtins.h"

#include <algorithm>
#include <iterator>

#include "refused_names.h"

namespace gufunc::gufcc {
namespace {

constexpr std::string_view kBuiltinPrefix = "__builtin_";

// Names without the prefix __builtin_.
constexpr std::string_view kAllowedBuiltins[] = {"FILE",
                                                 "FUNCTION",
                                                 "LINE",
                                                 "abs",
                                                 "addressof",
                                                 "assume_aligned",
                                                 "bit_cast",
                                                 "clz",
                                                 "clzll",
                                                 "expect",
                                                 "ffs",
                                                 "ffsll",
                                                 "huge_val",
                                                 "huge_valf",
                                                 "inf",
                                                 "inff",
                                                 "is_constant_evaluated",
                                                 "isfinite",
                                                 "isinf",
                                                 "isnan",
                                                 "labs",
                                                 "launder",
                                                 "llabs",
                                                 "memcpy",
                                                 "memset",
                                                 "nan",
                                                 "nanf",
                                                 "offsetof",
                                                 "popcount",
                                                 "popcountll",
                                                 "signbit",
                                                 "unreachable"};

struct BuiltinAdvice {
  std::string_view name;  // without __builtin_
  const char *advice;
};
constexpr BuiltinAdvice kBuiltinAdvice[] = {
    {"alloca", "devices need a constant size of the stack; declare an array of constant size"},
    {"alloca_with_align",
     "devices need a constant size of the stack; declare an array of constant size"},
    {"trap",
     "a device loses its context; to refuse a value, set the flag of the option "
     "\"failure=text\""},
    {"debugtrap",
     "a device loses its context; to refuse a value, set the flag of the option "
     "\"failure=text\""},
    {"readcyclecounter",
     "only some processors have it; measure time in the program that makes the "
     "call"},
    {"readsteadycounter",
     "only some processors have it; measure time in the program that makes "
     "the call"},
    {"ctz", "nvcc lacks it; write __builtin_popcount((x & -x) - 1)"},
    {"ctzl", "nvcc lacks it; write __builtin_popcountll((x & -x) - 1)"},
    {"ctzll", "nvcc lacks it; write __builtin_popcountll((x & -x) - 1)"},
    {"parity", "nvcc lacks it; write __builtin_popcount(x) & 1"},
    {"parityl", "nvcc lacks it; write __builtin_popcountll(x) & 1"},
    {"parityll", "nvcc lacks it; write __builtin_popcountll(x) & 1"},
    {"clzl", "nvcc lacks it; write __builtin_clzll(x)"},
    {"ffsl", "nvcc lacks it; write __builtin_ffsll(x)"},
    {"popcountl", "nvcc lacks it; write __builtin_popcountll(x)"},
    {"assume", "g++ lacks it; write if (!condition) __builtin_unreachable()"},
    {"memcmp", "nvcc lacks it; compare the elements in a loop"},
    {"memmove", "nvcc lacks it; copy the elements in a loop"},
    {"prefetch", "only some processors have it; leave it out"},
};

constexpr char kAtomicBuiltins[] =
    "not every device has it; raw kernels have guf::atomic_add, guf::atomic_max ... of "
    "<gufunc/raw_kernel.hpp>";
constexpr char kOtherBuiltins[] =
    "not every device or compiler has it; docs/kernel-reference.md lists what guf:: has";

// Attributes that select a processor, and attributes that need a linker, a loader or a calling
// convention of the host.
constexpr std::string_view kOneProcessor[] = {"target", "target_clones", "target_version",
                                              "cpu_specific", "cpu_dispatch"};
constexpr std::string_view kHostAttributes[] = {
    "alias",  "constructor",  "destructor",    "ifunc",      "interrupt", "ms_abi",
    "naked",  "preserve_all", "preserve_most", "regcall",    "regparm",   "section",
    "signal", "sysv_abi",     "tls_model",     "vectorcall", "weak",      "weakref"};

template <size_t N>
bool is_in(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

}  // namespace

std::string why_builtin_refused(std::string_view name) {
  for (const char *prefix : {"__sync_", "__atomic_", "__c11_atomic_", "__scoped_atomic_",
                             "__opencl_atomic_", "__hip_atomic_"}) {
    if (name.starts_with(prefix)) return kAtomicBuiltins;
  }
  for (const char *prefix :
       {"__nvvm_", "__nv_", "__ocml_", "__ockl_", "_mm_", "_mm256_", "_mm512_"}) {
    if (name.starts_with(prefix)) return kOtherBuiltins;
  }
  if (!name.starts_with(kBuiltinPrefix)) return {};
  const std::string_view base = name.substr(kBuiltinPrefix.size());
  if (is_in(kAllowedBuiltins, base)) return {};
  for (const BuiltinAdvice &row : kBuiltinAdvice) {
    if (row.name == base) return row.advice;
  }
  // Functions of the C library are allowed here. If the compiler calls the library for one of them,
  // the check of the object file reports the call.
  if (is_library_function(std::string(base))) return {};
  const std::string advice = advice_for_name(std::string(base));
  return advice.empty() ? kOtherBuiltins : advice;
}

std::string why_attribute_refused(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  if (is_in(kOneProcessor, name)) {
    return "it selects one processor, and gufcc compiles a kernel for each of --targets; leave it "
           "out";
  }
  if (is_in(kHostAttributes, name)) return "only a host has it; leave it out";
  return {};
}

}  // namespace gufunc::gufcc
