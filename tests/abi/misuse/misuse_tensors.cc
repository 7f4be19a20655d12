// SPDX-License-Identifier: Apache-2.0
// Makes DLPack tensors to import, and releases exported tensors.
#include <cstring>

#include "misuse_fixture.h"

namespace misuse {
namespace {

template <class Managed>
void delete_managed(const void *out) {
  Managed *made = nullptr;
  std::memcpy(&made, out, sizeof made);
  made->deleter(made);
}

}  // namespace

// The tensors are in host memory. Calls with these tensors need no stream, so no function waits.
void Fixture::make_tensors() {
  static int64_t shape[] = {2, 3};
  static guf_dlpack managed = {1, 0, nullptr, nullptr, 0, {}};
  managed.tensor = {data_, GUF_DLPACK_CPU, 0, 2, GUF_F64, shape, nullptr, 0};
  static guf_dlpack_unversioned unversioned = {managed.tensor, nullptr, nullptr};
  good_["guf_array_from_dlpack.managed"] = reinterpret_cast<uint64_t>(&managed);
  good_["guf_array_from_dlpack_unversioned.managed"] = reinterpret_cast<uint64_t>(&unversioned);
  for (const char *const parameter : {"from_dlpack", "from_dlpack_unversioned"}) {
    good_[std::string("guf_array_") + parameter + ".ready_on"] = 0;
  }
  for (const char *const parameter : {"to_dlpack", "to_dlpack_unversioned"}) {
    good_[std::string("guf_array_") + parameter + ".consumer"] = 0;
  }
}

void Fixture::delete_tensor(const char *function, const void *out) {
  if (std::strcmp(function, "guf_array_to_dlpack") == 0) {
    delete_managed<guf_dlpack>(out);
  } else {
    delete_managed<guf_dlpack_unversioned>(out);
  }
}

}  // namespace misuse
