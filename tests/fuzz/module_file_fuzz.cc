// SPDX-License-Identifier: Apache-2.0
// Opens arbitrary module files as data. The target computes the digest of each input again, so that
// the parsers of headers, dynamic sections, relocations and tables run. A custom mutator replaces
// whole words with extreme values.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>

#include "core/module/module.h"
#include "core/module/module_digest.h"
#include "target.h"

using namespace gufunc;

// This function is undefined if the target runs on its corpus without libFuzzer.
extern "C" [[gnu::weak]] size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                                          unsigned int seed);

namespace {

constexpr size_t kLargest = 1 << 20;

// A file that is rewritten for each input.
class MemoryFile {
 public:
  MemoryFile()
      : descriptor_(memfd_create("module_file_fuzz", MFD_CLOEXEC)),
        path_("/proc/self/fd/" + std::to_string(descriptor_)) {
    if (descriptor_ < 0) std::abort();
  }
  void put(std::span<const uint8_t> bytes) {
    const auto size = static_cast<ssize_t>(bytes.size());
    if (ftruncate(descriptor_, 0) != 0 ||
        pwrite(descriptor_, bytes.data(), bytes.size(), 0) != size) {
      std::abort();
    }
  }
  const char *path() const { return path_.c_str(); }

 private:
  const int descriptor_;
  const std::string path_;
};

// If the bytes still have the form of a module file, stores their correct digest.
void complete(std::span<uint8_t> bytes) {
  base::ElfFile elf;
  module::ModuleNote note;
  module::Digest digest;
  uint64_t offset = 0;
  if (base::ElfFile::open(std::as_bytes(bytes), &elf, nullptr) != GUF_OK) return;
  if (module::compute_digest(elf, &note, &digest, &offset, nullptr) != GUF_OK) return;
  std::memcpy(bytes.data() + offset, digest.data(), digest.size());
}

volatile uint64_t sink;

// Reads everything that an accepted table references. All of this memory must be readable.
void read_table(const guf_module_v1 &table) {
  uint64_t sum = std::strlen(table.name);
  for (uint32_t i = 0; i < table.nfunctions; ++i) {
    const guf_module_function &function = table.functions[i];
    sum += std::strlen(function.name) + (function.doc == nullptr ? 0 : std::strlen(function.doc));
    for (uint32_t k = 0; k < function.nloops; ++k) {
      const guf_module_loop &loop = function.loops[k];
      sum += std::strlen(loop.name);
      for (int32_t j = 0; j < function.nin + function.nout; ++j) sum += loop.types[j];
    }
  }
  for (uint32_t i = 0; i < table.nimages; ++i) {
    const guf_module_image &image = table.images[i];
    const auto *const data = static_cast<const uint8_t *>(image.data);
    sum += std::strlen(image.target) + data[0] + data[image.size - 1];
  }
  sink = sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MemoryFile *const file = new MemoryFile;
  if (size > kLargest) return 0;
  std::string bytes(reinterpret_cast<const char *>(data), size);
  const std::span<uint8_t> span(reinterpret_cast<uint8_t *>(bytes.data()), bytes.size());
  complete(span);
  file->put(span);

  guf_error error = fresh_error();
  base::Ref<module::Module> made, kept;
  if (module::open_module(file->path(), GUF_MODULE_DATA_ONLY, &made, &error) != GUF_OK) {
    if (error.message[0] == '\0') std::abort();
    return 0;
  }
  read_table(made->table());
  const auto context = base::Ref<op::Context>::adopt(new op::Context);
  if (module::register_module(*context, made, &kept, nullptr) == GUF_OK) {
    for (const std::string &name : context->names()) {
      base::Ref<op::Ufunc> ufunc;
      context->find(name, &ufunc, nullptr);
    }
  }
  made = kept = base::Ref<module::Module>();
  base::collect();
  return 0;
}

// Sets one word of the file to an extreme value, or calls libFuzzer's mutator.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                                          unsigned int seed) {
  std::minstd_rand random(seed);
  if (LLVMFuzzerMutate != nullptr && (size < 64 || random() % 4 == 0)) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const uint64_t values[] = {0,          1,
                             size - 1,   size,
                             size + 1,   uint64_t{64} << 20,
                             0x7FFFFFFF, 0x80000000,
                             0xFFFFFFFF, uint64_t{1} << 63,
                             UINT64_MAX, random() % size};
  const uint64_t value = values[random() % std::size(values)];
  const size_t width = size_t{1} << random() % 4;
  // Half of the changes are in the headers, which are a small part of the file.
  const size_t end = random() % 2 == 0 ? std::min<size_t>(size, 1024) : size;
  const size_t at = (random() % (end - width + 1)) / width * width;
  std::memcpy(data + at, &value, width);
  return size;
}
