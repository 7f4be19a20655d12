// SPDX-License-Identifier: Apache-2.0
// Lists of the names, with advice.
//
// The following headers are allowed, because they need no library at run time: <array>, <atomic>,
// <cfloat>, <climits>, <cstdarg>, <cstddef>, <cstdint>, <exception>, <initializer_list>, <limits>,
// <new>, <ratio>, <tuple>, <type_traits>, <typeinfo>, <utility> and their C forms.
//
// Builtin functions are allowed if clang has them for every processor and nvcc and g++ have them
// too, or if is_library_function knows their name without __builtin_. All other builtin functions
// are refused, because each compiler release adds some.
#include "refused_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace gufunc::gufcc {
namespace {

constexpr const char *kMathematicsHeaders[] = {"cmath",   "math.h",    "tgmath.h", "ctgmath",
                                               "complex", "complex.h", "ccomplex"};

constexpr const char *kHosted[] = {
    "algorithm", "any", "barrier", "bits/stdc++.h", "bitset", "charconv", "chrono", "codecvt",
    "condition_variable", "coroutine", "deque", "execution", "expected", "filesystem", "format",
    "forward_list", "fstream", "functional", "future", "iomanip", "ios", "iosfwd", "iostream",
    "istream", "iterator", "latch", "list", "locale", "map", "memory", "memory_resource", "mutex",
    "numeric", "optional", "ostream", "queue", "random", "ranges", "regex", "scoped_allocator",
    "semaphore", "set", "shared_mutex", "span", "sstream", "stack", "stacktrace", "stdexcept",
    "stop_token", "streambuf", "string", "string_view", "strstream", "syncstream", "system_error",
    "thread", "typeindex", "unordered_map", "unordered_set", "valarray", "variant", "vector",
    // C library
    "cassert", "cctype", "cerrno", "cfenv", "cinttypes", "clocale", "csetjmp", "csignal", "cstdio",
    "cstdlib", "cstring", "ctime", "cuchar", "cwchar", "cwctype", "assert.h", "ctype.h", "errno.h",
    "fenv.h", "inttypes.h", "locale.h", "pthread.h", "setjmp.h", "signal.h", "stdio.h", "stdlib.h",
    "string.h", "threads.h", "time.h", "uchar.h", "unistd.h", "wchar.h", "wctype.h",
    // processor intrinsics
    "arm_neon.h", "immintrin.h", "intrin.h", "x86intrin.h", "xmmintrin.h", "emmintrin.h"};

// Functions of the C math library for double that namespace guf also has. Instead of `round`, it
// has guf::rint.
const std::set<std::string> kMathematics = {
    "acos",     "acosh", "asin",  "asinh", "atan", "atan2",     "atanh", "cbrt",      "ceil",
    "copysign", "cos",   "cosh",  "erf",   "erfc", "exp",       "exp2",  "expm1",     "fabs",
    "floor",    "fma",   "fmax",  "fmin",  "fmod", "frexp",     "hypot", "ldexp",     "lgamma",
    "log",      "log10", "log1p", "log2",  "modf", "nextafter", "pow",   "remainder", "rint",
    "sin",      "sinh",  "sqrt",  "tan",   "tanh", "tgamma",    "trunc"};

// Functions of namespace std, besides kMathematics, that exist in guf:: with the same name.
const std::set<std::string> kSameNames = {"abs",      "arg",   "conj",   "gcd", "imag",
                                          "isfinite", "isinf", "isnan",  "lcm", "max",
                                          "min",      "real",  "signbit"};

constexpr char kPrinting[] =
    "a kernel cannot print: write the value to an output; to debug on the cpu, use gufcc -g "
    "--targets host";
constexpr char kMemory[] = "a kernel has no private heap; g.shared<T>(n) is memory of its group";
constexpr char kSmallMemory[] =
    "a kernel has no private heap; declare an array of constant size, or use g.shared<T>(n) "
    "of a cooperative function";
constexpr char kFailure[] = "to refuse a value, set the flag of the option \"failure=text\"";
constexpr char kRandom[] =
    "a kernel has no state; guf::random of <gufunc/raw_kernel.hpp> computes random numbers from a "
    "counter";
constexpr char kClock[] =
    "a kernel has no clock; pass the time as an input, or measure it in the program that makes the "
    "call";
constexpr char kCopy[] = "assign the elements in a loop; guf::bit_cast<T>(x) reads the bits of x";
constexpr char kLimits[] = "write guf::limits<T> of the intended type";
constexpr char kEnvironment[] =
    "a kernel has no files and no environment; pass the value as an "
    "input";
constexpr char kNoText[] = "a kernel has no text; convert it in the program that makes the call";
constexpr char kAtomics[] =
    "raw kernels have guf::atomic_add, guf::atomic_max ... of <gufunc/raw_kernel.hpp>";
constexpr char kIndices[] =
    "a ufunc is called once per element; raw kernels have g.global_id(d), g.local_id(d) and "
    "g.group_id(d) of their guf::block";
constexpr char kQualifier[] =
    "declare a function GUF_DEVICE, a constant table GUF_TABLE, and request memory of a group by "
    "g.shared<T>(n)";

struct NameRow {
  const char *names;  // separated by blanks
  const char *advice;
};

// Advice for functions. is_library_function searches kFunctions but not kFurtherFunctions.
constexpr NameRow kFunctions[] = {
    {"printf puts putchar fprintf fputs fputc fwrite putc vprintf perror", kPrinting},
    {"malloc calloc realloc free aligned_alloc _Znwm _Znam _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm", kMemory},
};
constexpr NameRow kFurtherFunctions[] = {
    {"snprintf sprintf vsnprintf fflush", kPrinting},
    {"alloca strdup", kSmallMemory},
    {"assert abort exit _Exit quick_exit atexit terminate raise signal longjmp setjmp "
     "__assert_fail",
     kFailure},
    {"rand srand random srandom drand48 lrand48 rand_r", kRandom},
    {"time clock clock_gettime gettimeofday difftime gmtime localtime strftime mktime", kClock},
    {"memcpy memmove memset memcmp bcopy", kCopy},
    {"getenv setenv fopen fclose fread scanf getchar fgets system getpid sleep usleep",
     kEnvironment},
    {"strlen strcmp strncmp strcpy strcat strtod strtol atoi atof toupper tolower isalpha isdigit "
     "to_string stoi stod",
     kNoText},
    {"labs llabs", "write guf::abs(x)"},
    {"round lround llround nearbyint lrint llrint",
     "write guf::rint(x), and guf::cast<T>(x) for "
     "an integer"},
    {"qsort bsearch sort stable_sort nth_element", "write the loop in this source, as GUF_DEVICE"},
};

// Advice for macros, types, variables, templates and names of CUDA and HIP.
constexpr NameRow kNames[] = {
    {"INFINITY HUGE_VAL HUGE_VALF", "write T(guf::inf)"},
    {"NAN", "write T(guf::nan)"},
    {"M_PI M_PIf", "write T(guf::pi)"},
    {"M_E", "write T(guf::e)"},
    {"M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI", "write it with T(guf::pi), such as T(guf::pi / 2)"},
    {"M_SQRT2 M_SQRT1_2 M_LN2 M_LN10 M_LOG2E M_LOG10E",
     "write the number as a constant of the type, such as T(1.4142135623730951)"},
    {"FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON INT_MAX INT_MIN UINT_MAX LONG_MAX "
     "LONG_MIN ULONG_MAX LLONG_MAX LLONG_MIN CHAR_BIT SHRT_MAX INT32_MAX INT32_MIN INT64_MAX "
     "INT64_MIN UINT32_MAX UINT64_MAX SIZE_MAX numeric_limits",
     kLimits},
    {"NULL", "write nullptr"},
    {"RAND_MAX mt19937 uniform_real_distribution normal_distribution random_device", kRandom},
    {"stdout stderr stdin FILE cout cerr clog endl ostream", kPrinting},
    {"errno", kFailure},
    {"EXIT_FAILURE EXIT_SUCCESS runtime_error exception logic_error invalid_argument out_of_range "
     "domain_error overflow_error bad_alloc",
     kFailure},
    {"vector deque list map set unordered_map unordered_set unique_ptr shared_ptr make_unique "
     "make_shared valarray span stack queue",
     kSmallMemory},
    {"string string_view ostringstream stringstream to_chars", kNoText},
    {"array", "#include <array> first"},
    {"tuple", "#include <tuple> first"},
    {"pair move forward", "#include <utility> first"},
    {"swap exchange", "swap through a third variable"},
    {"accumulate reduce inner_product transform for_each fill copy",
     "write a loop, or g.sum(n, f) and g.reduce of a cooperative function"},
    {"function bind",
     "devices lack function pointers; pass a type with a static function as a "
     "template argument"},
    {"chrono", kClock},
    {"thread mutex lock_guard condition_variable future async",
     "a kernel starts no threads; a cooperative function (option \"group\") is run by a group"},
    {"complex", "write guf::c64, guf::c128 or guf::complex<T>"},
    {"clamp", "write guf::min(guf::max(x, low), high)"},
    {"bit_cast", "write guf::bit_cast<T>(x)"},
    {"threadIdx blockIdx blockDim gridDim hipThreadIdx_x hipBlockIdx_x hipBlockDim_x "
     "get_global_id get_local_id",
     kIndices},
    {"__syncthreads __syncwarp barrier",
     "write g.sync() in a cooperative function (option \"group\") or a raw kernel"},
    {"atomicAdd atomicSub atomicMax atomicMin atomicCAS atomicExch atomicAnd atomicOr atomicXor",
     kAtomics},
    {"__shfl_sync __shfl_down_sync __shfl_xor_sync __shfl_up_sync",
     "raw kernels have g.subgroup(), with shuffle, shuffle_down and shuffle_xor"},
    {"__global__ __device__ __host__ __shared__ __constant__ __forceinline__ __kernel __global "
     "__local",
     kQualifier},
    {"uint", "write guf::u32"},
    {"ulong", "write guf::u64"},
    {"ushort", "write guf::u16"},
    {"uchar", "write guf::u8"},
    {"half __half float16",
     "write float for the letter 'e', or guf::f16 for the elements of a "
     "raw kernel"},
    {"ssize_t ptrdiff_t intptr_t", "write guf::i64"},
    {"uintptr_t", "write guf::u64"},
    {"byte", "write guf::u8"},
};

template <size_t N>
std::string find_in(const NameRow (&rows)[N], const std::string &name) {
  const std::string word = " " + name + " ";
  for (const NameRow &row : rows) {
    if ((" " + std::string(row.names) + " ").find(word) != std::string::npos) return row.advice;
  }
  return {};
}

// Returns "use guf::sin" for "sin", "sinf" and "sinl", and "" for other functions.
std::string advice_for_mathematics(const std::string &name) {
  std::string base = name;
  if (!kMathematics.contains(base) && base.size() > 1 && (base.back() == 'f' || base.back() == 'l'))
    base.pop_back();
  if (kMathematics.contains(base)) return "use guf::" + base;
  return base == "round" ? "use guf::rint" : "";
}

std::string known_advice(const std::string &name) {
  std::string advice = advice_for_mathematics(name);
  if (advice.empty()) advice = find_in(kFunctions, name);
  return advice;
}

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
    {"alloca", "devices need a stack of constant size; declare an array of constant size"},
    {"alloca_with_align",
     "devices need a stack of constant size; declare an array of constant size"},
    {"trap",
     "it destroys the context of the device; to refuse a value, set the flag of the option "
     "\"failure=text\""},
    {"debugtrap",
     "it destroys the context of the device; to refuse a value, set the flag of the option "
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
    "not every device or compiler has it; docs/kernel-reference.md lists the names in guf::";

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

const std::vector<std::string> &refused_headers() {
  static const auto *const kAll = [] {
    auto *all = new std::vector<std::string>(std::begin(kMathematicsHeaders),
                                             std::end(kMathematicsHeaders));
    all->insert(all->end(), std::begin(kHosted), std::end(kHosted));
    return all;
  }();
  return *kAll;
}

std::string why_refused(const std::string &header) {
  if (std::find(std::begin(kMathematicsHeaders), std::end(kMathematicsHeaders), header) !=
      std::end(kMathematicsHeaders)) {
    return fmt::format(
        "<{}> is not for kernels: its functions do not vectorise and do not exist on devices; use "
        "guf::sqrt, guf::sin, guf::pow ... of <gufunc/kernel.hpp>",
        header);
  }
  return fmt::format(
      "<{}> is not for kernels: only a host has it; kernels can include freestanding headers, such "
      "as <array>, <limits>, <tuple>, <type_traits> and <utility>",
      header);
}

bool is_printing(const std::string &function) {
  return find_in(kFunctions, function) == kPrinting;
}

bool is_library_function(const std::string &name) {
  return !known_advice(name).empty();
}

std::string advice_for_function(const std::string &name) {
  std::string advice = known_advice(name);
  if (advice.empty()) advice = find_in(kFurtherFunctions, name);
  return advice.empty() ? "write what it does in this source or in a header, as GUF_DEVICE"
                        : advice;
}

std::string advice_for_name(const std::string &name) {
  if (kSameNames.contains(name)) return "use guf::" + name;
  std::string advice = known_advice(name);
  if (advice.empty()) advice = find_in(kFurtherFunctions, name);
  return advice.empty() ? find_in(kNames, name) : advice;
}

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
