// SPDX-License-Identifier: Apache-2.0
// The following headers are allowed, because they need no library at run time: <array>, <atomic>,
// <cfloat>, <climits>, <cstdarg>, <cstddef>, <cstdint>, <exception>, <initializer_list>, <limits>,
// <new>, <ratio>, <tuple>, <type_traits>, <typeinfo>, <utility> and their C forms.
#include "refused_headers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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
      "<{}> is not for kernels: only a host has it; freestanding headers are for them, such as "
      "<array>, <limits>, <tuple>, <type_traits> and <utility>",
      header);
}

}  // namespace gufunc::gufcc
