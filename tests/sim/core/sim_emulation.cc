// SPDX-License-Identifier: Apache-2.0
// Opens emulation files. Each file is opened once and never closed, because kernels of loaded
// modules point into the file.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "tests/sim/core/sim_module.h"

namespace sim {
namespace {

using guf::device::emulated_image;
using guf::device::emulated_kernel;
using guf::device::emulation_table;

struct Emulation {
  const emulation_table *table = nullptr;
  std::string trouble;  // reason why the file has no usable table
};

const Emulation &open_emulation(const std::string &path) {
  static auto *opened = new std::map<std::string, Emulation>;
  const auto found = opened->find(path);
  if (found != opened->end()) return found->second;
  Emulation &emulation = (*opened)[path];
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *table = library == nullptr ? nullptr : dlsym(library, "gufunc_emulation_v1");
  if (table == nullptr) {
    const char *text = dlerror();
    emulation.trouble = text == nullptr ? "no symbol gufunc_emulation_v1" : text;
    return emulation;
  }
  emulation.table = static_cast<const emulation_table *>(table);
  return emulation;
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

bool lists_image(const emulation_table &table, const std::string &digest, uint64_t size) {
  for (uint32_t i = 0; i < table.nimages; ++i) {
    if (table.images[i].size == size && same_digest(table.images[i].sha256, digest)) return true;
  }
  return false;
}

bool is_ptx(const emulated_image &image) {
  return std::strncmp(image.target, "ptx_", 4) == 0;
}

bool lists_ptx_of_more(const emulation_table &table, uint64_t size) {
  return std::any_of(
      table.images, table.images + table.nimages,
      [size](const emulated_image &image) { return is_ptx(image) && image.size > size; });
}

// Returns whether two tables list the same PTX. Such tables belong to modules that were compiled
// from the same source.
bool share_ptx(const emulation_table &a, const emulation_table &b) {
  for (uint32_t i = 0; i < a.nimages; ++i) {
    if (!is_ptx(a.images[i])) continue;
    for (uint32_t j = 0; j < b.nimages; ++j) {
      if (std::memcmp(a.images[i].sha256, b.images[j].sha256, sizeof a.images[i].sha256) == 0) {
        return true;
      }
    }
  }
  return false;
}

const emulated_kernel *find_entry(const emulation_table &table, const std::string &name) {
  for (uint32_t i = 0; i < table.nkernels; ++i) {
    if (name == table.kernels[i].name) return &table.kernels[i];
  }
  return nullptr;
}

}  // namespace

const emulated_kernel *find_excerpt_emulation(const Config &config, uint64_t size,
                                              const std::string &kernel, std::string *why_not) {
  const emulated_kernel *found = nullptr;
  const emulation_table *first = nullptr;
  for (const std::string &path : config.emulation) {
    const emulation_table *const table = open_emulation(path).table;
    if (table == nullptr || !lists_ptx_of_more(*table, size)) continue;
    const emulated_kernel *const entry = find_entry(*table, kernel);
    if (entry == nullptr || (first != nullptr && share_ptx(*first, *table))) continue;
    if (first != nullptr) {
      *why_not = "two emulation files have PTX with an entry of this name, one is " + path;
      return nullptr;
    }
    found = entry;
    first = table;
  }
  return found;
}

const emulated_kernel *find_emulation(const Config &config, const std::string &digest,
                                      uint64_t size, const std::string &kernel,
                                      std::string *why_not) {
  *why_not = "no emulation file of GUFUNC_SIM_EMULATION lists its image, sha256 " + digest + ", " +
             std::to_string(size) + " bytes";
  for (const std::string &path : config.emulation) {
    const Emulation &emulation = open_emulation(path);
    if (emulation.table == nullptr) {
      *why_not += "; " + path + ": " + emulation.trouble;
      continue;
    }
    if (!lists_image(*emulation.table, digest, size)) continue;
    const emulated_kernel *const entry = find_entry(*emulation.table, kernel);
    if (entry != nullptr) return entry;
    *why_not = "the emulation file of its image, " + path + ", has no entry of this name";
  }
  return nullptr;
}

}  // namespace sim
