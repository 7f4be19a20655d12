// SPDX-License-Identifier: Apache-2.0
// Sidecars are opened once and stay: kernels of loaded modules point into them.
#include <dlfcn.h>
#include <cstring>

#include "tests/sim/core/sim_module.h"

namespace sim {
namespace {

using guf::device::items_kernel;
using guf::device::items_table;

struct Sidecar {
  const items_table *table = nullptr;
  std::string trouble;  // why there is no table
};

const Sidecar &open_sidecar(const std::string &path) {
  static auto *opened = new std::map<std::string, Sidecar>;
  const auto found = opened->find(path);
  if (found != opened->end()) return found->second;
  Sidecar &sidecar = (*opened)[path];
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *table = library == nullptr ? nullptr : dlsym(library, "gufunc_items_v1");
  if (table == nullptr) {
    const char *text = dlerror();
    sidecar.trouble = text == nullptr ? "no symbol gufunc_items_v1" : text;
    return sidecar;
  }
  sidecar.table = static_cast<const items_table *>(table);
  return sidecar;
}

bool same_digest(const guf::u8 (&bytes)[32], const std::string &digest) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < 32; ++i) {
    if (digest[2 * i] != digits[bytes[i] >> 4] || digest[2 * i + 1] != digits[bytes[i] & 15]) {
      return false;
    }
  }
  return true;
}

bool lists_image(const items_table &table, const std::string &digest, uint64_t size) {
  for (uint32_t i = 0; i < table.nimages; ++i) {
    if (table.images[i].size == size && same_digest(table.images[i].sha256, digest)) return true;
  }
  return false;
}

}  // namespace

const items_kernel *find_items(const Config &config, const std::string &digest, uint64_t size,
                               const std::string &kernel, std::string *why_not) {
  *why_not = "no sidecar of GUFUNC_SIM_ITEMS lists its image, sha256 " + digest + ", " +
             std::to_string(size) + " bytes";
  for (const std::string &path : config.items) {
    const Sidecar &sidecar = open_sidecar(path);
    if (sidecar.table == nullptr) {
      *why_not += "; " + path + ": " + sidecar.trouble;
      continue;
    }
    if (!lists_image(*sidecar.table, digest, size)) continue;
    for (uint32_t i = 0; i < sidecar.table->nkernels; ++i) {
      const items_kernel &entry = sidecar.table->kernels[i];
      if (kernel == entry.name) return &entry;
    }
    *why_not = "the sidecar of its image, " + path + ", has no entry of this name";
  }
  return nullptr;
}

}  // namespace sim
