// SPDX-License-Identifier: Apache-2.0
// Loads images, opens emulation files and launches kernels. Each emulation file is opened once and
// never closed, because kernels of loaded modules point into the file.
#include "tests/sim/core/sim_module.h"

#include <dlfcn.h>
#include <sha256.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "backends/emulator/emulator.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_interpreter.h"

namespace sim {
namespace {

struct KnownImage {
  std::string bytes, digest;
};

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

using Bytes = std::vector<unsigned char>;
using gufunc::emulator::Outcome;

// Packs the arguments in the layout that the image defines.
bool pack_parameters(const ImageKernel &message, void **parameters, Bytes *out) {
  out->assign(message.argument_bytes, 0);
  for (size_t i = 0; i < message.parameters.size(); ++i) {
    if (parameters == nullptr || parameters[i] == nullptr) return false;
    std::memcpy(out->data() + message.parameters[i].offset, parameters[i],
                message.parameters[i].bytes);
  }
  return true;
}

// Reads the `extra` list of a launch. The list contains the number 1 followed by the address of the
// argument buffer, the number 2 followed by the address of the buffer's size, and the vendor's end
// marker.
bool take_extra(void **extra, const void *end, Bytes *out) {
  const void *buffer = nullptr;
  const size_t *bytes = nullptr;
  for (; *extra != end; extra += 2) {
    const auto word = reinterpret_cast<uint64_t>(*extra);
    if (word == 1)
      buffer = extra[1];
    else if (word == 2)
      bytes = static_cast<const size_t *>(extra[1]);
    else
      return false;
  }
  if (buffer == nullptr || bytes == nullptr) return false;
  const auto *first = static_cast<const unsigned char *>(buffer);
  out->assign(first, first + *bytes);
  return true;
}

// The content of all memory of a device, indexed by address.
using Snapshot = std::map<uint64_t, std::string>;

Snapshot take_snapshot(Driver &driver, int device) {
  const Lock lock(driver.mutex);
  Snapshot all;
  for (const auto &[address, allocation] : driver.memory.all()) {
    const bool on_device =
        allocation.kind == MemoryKind::kDevice || allocation.kind == MemoryKind::kPool;
    if (allocation.device != device || !on_device) continue;
    std::string &copy = all[address];
    copy.resize(allocation.bytes);
    raw_copy(copy.data(), reinterpret_cast<const void *>(address), allocation.bytes);
  }
  return all;
}

void put_back(const Snapshot &snapshot) {
  for (const auto &[address, bytes] : snapshot) {
    raw_copy(reinterpret_cast<void *>(address), bytes.data(), bytes.size());
  }
}

// The data of a launch that waits in a queue.
struct Queued {
  std::shared_ptr<Kernel> kernel;
  LaunchShape shape;
  Bytes arguments;
  bool twice, descending;
  uint64_t edges;         // number of blocks to run at each end of the grid; 0 means all blocks
  uint64_t shuffle_seed;  // order of the blocks and warps of an interpreted kernel
};

// Runs the whole grid, or only its first and last blocks if the whole grid would run for minutes.
gufunc::emulator::Result run_grid(gufunc::emulator::Launch launch, uint64_t edges) {
  const uint64_t blocks = uint64_t{launch.blocks[0]} * launch.blocks[1] * launch.blocks[2];
  if (edges == 0 || blocks / 2 <= edges) return gufunc::emulator::run(launch);
  launch.nblocks = edges;
  const gufunc::emulator::Result result = gufunc::emulator::run(launch);
  if (result.outcome != Outcome::kDone) return result;
  launch.first_block = blocks - edges;
  return gufunc::emulator::run(launch);
}

// Runs the PTX text of a kernel. Returns a description of the error, or an empty text.
std::string run_text(Driver &driver, const Queued &queued, bool descending) {
  ptx::Launch launch;
  launch.program = queued.kernel->program.get();
  launch.entry = queued.kernel->message.name;
  launch.arguments = queued.arguments.data();
  launch.argument_bytes = queued.arguments.size();
  std::copy_n(queued.shape.blocks, 3, launch.blocks);
  std::copy_n(queued.shape.threads, 3, launch.threads);
  launch.dynamic_shared_bytes = queued.shape.shared_bytes;
  launch.order = {descending, queued.shuffle_seed};
  launch.edges = queued.edges;
  return interpret(driver, *queued.kernel->context, launch).fault;
}

// Runs the emulation of a kernel. Returns a description of the error, or an empty text.
std::string run_emulation(const Queued &queued, bool descending) {
  const guf::device::emulated_kernel &items = *queued.kernel->items;
  gufunc::emulator::Launch launch = {};
  launch.entry = items.entry;
  launch.arguments = queued.arguments.data();
  std::memcpy(launch.blocks, queued.shape.blocks, sizeof(launch.blocks));
  std::memcpy(launch.threads, queued.shape.threads, sizeof(launch.threads));
  launch.shared_bytes = queued.shape.shared_bytes + queued.kernel->message.shared_bytes;
  launch.synchronizes = items.synchronizes != 0;
  launch.descending = descending;
  const gufunc::emulator::Result result = run_grid(launch, queued.edges);
  if (result.outcome == Outcome::kDone) return {};
  char text[256];
  gufunc::emulator::describe(result, text, sizeof(text));
  return text;
}

int run_once(Driver &driver, const Queued &queued, bool descending) {
  const std::string text = queued.kernel->program != nullptr ? run_text(driver, queued, descending)
                                                             : run_emulation(queued, descending);
  if (text.empty()) return kSuccess;
  const Lock lock(driver.mutex);
  violation(driver, queued.kernel->context, queued.kernel->message.name + ": " + text);
  return kLaunchFailed;
}

// Runs the work-items in ascending and then in descending order. Both runs must produce the same
// bytes in device memory.
int run_twice(Driver &driver, const Queued &queued) {
  const int device = queued.kernel->context->device;
  const Snapshot before = take_snapshot(driver, device);
  int code = run_once(driver, queued, false);
  if (code != kSuccess) return code;
  const Snapshot ascending = take_snapshot(driver, device);
  put_back(before);
  code = run_once(driver, queued, true);
  if (code != kSuccess) return code;
  if (take_snapshot(driver, device) == ascending) return kSuccess;
  const Lock lock(driver.mutex);
  violation(driver, queued.kernel->context,
            queued.kernel->message.name + ": its result depends on the order of work-items");
  return kLaunchFailed;
}

}  // namespace

// Computes the digest of an image. The digests of the last few images are cached, because programs
// load the same images repeatedly.
std::string image_digest(const void *data, const Image &image) {
  static auto *known = new std::deque<KnownImage>;
  for (const KnownImage &one : *known) {
    const bool same =
        one.bytes.size() == image.size && std::memcmp(one.bytes.data(), data, image.size) == 0;
    if (same) return one.digest;
  }
  SHA2_CTX state;
  SHA256Init(&state);
  SHA256Update(&state, static_cast<const uint8_t *>(data), image.size);
  char text[SHA256_DIGEST_STRING_LENGTH];
  SHA256End(&state, text);
  constexpr size_t kMax = 16;
  known->push_front({std::string(static_cast<const char *>(data), image.size), text});
  if (known->size() > kMax) known->pop_back();
  return text;
}

std::shared_ptr<Module> add_module(Driver &driver, Context &context, const std::string &digest,
                                   Image image) {
  auto module = std::make_shared<Module>();
  module->handle = driver.new_handle();
  module->context = &context;
  module->digest = digest;
  module->image = std::move(image);
  driver.modules.add(module->handle, module);
  return module;
}

std::shared_ptr<Kernel> kernel_of(Driver &driver, Module &module, const std::string &name) {
  std::shared_ptr<Kernel> &kernel = module.kernels[name];
  if (kernel != nullptr) return kernel;
  for (const ImageKernel &message : module.image.kernels) {
    if (message.name != name) continue;
    kernel = std::make_shared<Kernel>();
    kernel->handle = driver.new_handle();
    kernel->context = module.context;
    kernel->module = module.handle;
    kernel->message = message;
    if (module.image.text != nullptr) {
      if (module.program == nullptr) {
        module.program = read_program(*module.image.text, &kernel->why_not);
      }
      kernel->program = module.program;
    } else {
      kernel->items =
          find_emulation(driver.config, module.digest, module.image.size, name, &kernel->why_not);
    }
    if (kernel->items == nullptr && module.image.text == nullptr && module.image.ptx_version != 0) {
      kernel->items =
          find_excerpt_emulation(driver.config, module.image.size, name, &kernel->why_not);
    }
    driver.kernels.add(kernel->handle, kernel);
    return kernel;
  }
  module.kernels.erase(name);
  return nullptr;
}

int remove_module(Driver &driver, Lock &lock, void *handle) {
  const std::shared_ptr<Module> module = driver.modules.find(handle);
  if (module == nullptr) return kInvalidHandle;
  driver.engine.wait_all(lock, module->context);
  for (const auto &[name, kernel] : module->kernels) driver.kernels.remove(kernel->handle);
  driver.modules.remove(handle);
  return kSuccess;
}

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

int launch(Driver &driver, const std::shared_ptr<Stream> &stream,
           const std::shared_ptr<Kernel> &kernel, const LaunchShape &shape, void **parameters,
           void **extra, const void *extra_end) {
  if (!driver.config.execute && stream->capture == nullptr) return kSuccess;
  Queued queued = {kernel,
                   shape,
                   {},
                   driver.config.twice && driver.config.order != Order::kEager,
                   driver.config.order == Order::kAdversarial && driver.engine.random()() % 2 != 0,
                   driver.config.edges,
                   0};
  if (kernel->program != nullptr && driver.config.order == Order::kAdversarial) {
    queued.shuffle_seed = driver.engine.random()() | 1;
  }
  const bool packed = extra != nullptr
                          ? take_extra(extra, extra_end, &queued.arguments)
                          : pack_parameters(kernel->message, parameters, &queued.arguments);
  if (!packed) return kInvalidValue;
  const std::string &name = kernel->message.name;
  if (queued.arguments.size() != kernel->message.argument_bytes) {
    violation(driver, nullptr,
              name + " takes " + std::to_string(kernel->message.argument_bytes) +
                  " bytes of arguments and got " + std::to_string(queued.arguments.size()));
    return kInvalidValue;
  }
  if (kernel->items == nullptr && kernel->program == nullptr) {
    violation(driver, kernel->context, name + " cannot run: " + kernel->why_not);
    return kLaunchFailed;
  }
  if (kernel->items != nullptr && kernel->items->argument_bytes != kernel->message.argument_bytes) {
    violation(driver, kernel->context,
              name + " takes " + std::to_string(kernel->message.argument_bytes) +
                  " bytes of arguments in its image and " +
                  std::to_string(kernel->items->argument_bytes) + " in its emulation file");
    return kLaunchFailed;
  }
  const void *const what = kernel.get();
  Work work = {WorkKind::kKernel,
               [&driver, queued = std::move(queued)] {
                 return queued.twice ? run_twice(driver, queued)
                                     : run_once(driver, queued, queued.descending);
               },
               what};
  return submit(driver, stream, std::move(work));
}

}  // namespace sim
