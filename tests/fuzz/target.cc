// SPDX-License-Identifier: Apache-2.0
#include "target.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace gufunc::fuzz {
namespace {

std::vector<guf_ufunc> find_standard_ufuncs() {
  std::vector<guf_ufunc> ufuncs;
  uint32_t count = 0;
  check(guf_ufunc_count(nullptr, &count, nullptr) == GUF_OK, "guf_ufunc_count");
  for (uint32_t i = 0; i < count; ++i) {
    char name[2 * GUF_MAX_NAME + 2];
    guf_ufunc ufunc = nullptr;
    check(guf_ufunc_name_at(nullptr, i, name, sizeof name, nullptr) == GUF_OK, "name_at");
    check(guf_ufunc_find(nullptr, name, &ufunc, nullptr) == GUF_OK, "guf_ufunc_find");
    ufuncs.push_back(ufunc);
  }
  check(!ufuncs.empty(), "there are standard ufuncs");
  return ufuncs;
}

}  // namespace

guf_ufunc draw_ufunc(ByteReader *bytes) {
  static const std::vector<guf_ufunc> ufuncs = find_standard_ufuncs();
  return ufuncs[bytes->below(static_cast<uint32_t>(ufuncs.size()))];
}

void demand_report(guf_status status, const guf_error &error) {
  check(guf_status_name(status) != nullptr, "the status has a name");
  check(std::memchr(error.message, '\0', sizeof error.message) != nullptr, "the message ends");
  if (status != GUF_OK) check(error.message[0] != '\0', "a failure has a message");
  check(status != GUF_E_INTERNAL, "no internal error");
}

void check(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "check failed: %s\n", what);
  std::abort();
}

}  // namespace gufunc::fuzz
