// SPDX-License-Identifier: Apache-2.0
// Opens and checks the table of a plugin. The sizes, slots, name and minor version are checked,
// because the plugin's declarations are not trusted. Also defines the services that the library
// provides to plugins: log, memory and configuration.
#include "core/plugin/plugin_table.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/base/log.h"
#include "core/base/open_library.h"
#include "core/plugin/plugin_file.h"

namespace gufunc::plugin {
namespace {

void write_log(void *, int32_t level, const char *message) {
  if (message == nullptr) return;
  const auto last = static_cast<int32_t>(base::LogLevel::kInformation);
  base::log_text(static_cast<base::LogLevel>(level < 0 || level > last ? last : level), message);
}

void *allocate(void *, size_t size, size_t alignment) {
  void *pointer = nullptr;
  const size_t least = alignof(std::max_align_t);
  return posix_memalign(&pointer, alignment < least ? least : alignment, size) == 0 ? pointer
                                                                                    : nullptr;
}

void release(void *, void *pointer) {
  std::free(pointer);
}

// Returns an environment variable, or NULL if it is unset or if the process is privileged.
const char *configuration(void *, const char *name) {
  return name == nullptr ? nullptr : secure_getenv(name);
}

struct Slot {
  const char *name;
  size_t offset;
};

// The slots that a plugin must provide. Slots of later minor versions are never required.
constexpr Slot kRequired[] = {
#define GUF_REQUIRED_SLOT(slot) {#slot, offsetof(guf_backend_api, slot)},
#define GUF_OPTIONAL_SLOT(slot)
    GUF_REQUIRED_SLOT(name) GUF_REQUIRED_SLOT(version)
#include <gufunc/backend_slots.def>
};

guf_status no_extension(const char *name, uint32_t, const void **, guf_error *error) {
  return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                    "the backend has no extension '%s'", name);
}

guf_status no_description(void *, const guf_backend_launch *, char *, size_t, guf_error *error) {
  return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                    "the backend does not describe launches");
}

guf_status no_method_text(void *, const guf_backend_method *, char *, size_t, guf_error *error) {
  return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                    "the backend does not describe methods");
}

// A table with guard bytes, which detect a plugin that was built with a longer table.
struct TableBuffer {
  guf_backend_api api;
  unsigned char guard[256];
};

guf_status contradicts(const BackendNote &note, const char *what, const char *found,
                       const char *expected, guf_error *error) {
  return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                    "backend %s breaks the plugin contract; %s: expected %s, got %s",
                    note.name.c_str(), what, expected, found);
}

guf_status check_table(const TableBuffer &buffer, const BackendNote &note, uint32_t minor,
                       guf_error *error) {
  const guf_backend_api &api = buffer.api;
  for (const unsigned char byte : buffer.guard) {
    if (byte != 0) {
      return contradicts(note, "table", "bytes written after it", "none", error);
    }
  }
  for (const Slot &slot : kRequired) {
    if (slot.offset + sizeof(void *) > api.struct_size) {
      return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                        "backend %s breaks the plugin contract; its table ends before slot '%s': "
                        "expected %zu bytes, got %u",
                        note.name.c_str(), slot.name, offsetof(guf_backend_api, extension),
                        api.struct_size);
    }
    const void *value = nullptr;
    std::memcpy(&value, reinterpret_cast<const char *>(&api) + slot.offset, sizeof value);
    if (value == nullptr) return contradicts(note, slot.name, "NULL", "the required slot", error);
  }
  if (note.name != api.name) {
    return contradicts(note, "name of the table", api.name, note.name.c_str(), error);
  }
  if (api.abi_minor < note.abi_low || api.abi_minor > minor) {
    return base::fail(
        error, GUF_E_ABI, base::kNone, base::kNone,
        "backend %s breaks the plugin contract; minor of the table: expected %u to %u, got %u",
        note.name.c_str(), note.abi_low, minor, api.abi_minor);
  }
  return GUF_OK;
}

// Calls the entry function. Apart from static constructors, no other code of the plugin runs before
// the contract is checked.
guf_status call_entry(guf_backend_open_fn entry, const BackendNote &note, uint32_t minor,
                      guf_backend_api *api, guf_error *error) {
  try {
    return entry(&host_services(), minor, api, error);
  } catch (const std::bad_alloc &) {
    throw;
  } catch (...) {
    return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                      "backend %s breaks the plugin contract; its entry threw an exception",
                      note.name.c_str());
  }
}

}  // namespace

const guf_host_api &host_services() {
  static constexpr guf_host_api kServices = {
      sizeof(guf_host_api), GUF_BACKEND_ABI_MINOR, nullptr, write_log, allocate, release,
      configuration};
  return kServices;
}

guf_status open_table(guf_backend_open_fn entry, const BackendNote &note, guf_backend_api *out,
                      guf_error *error) {
  const uint32_t minor = std::min<uint32_t>(note.abi_high, GUF_BACKEND_ABI_MINOR);
  TableBuffer buffer = {};
  buffer.api.struct_size = sizeof buffer.api;
  guf_error details = {};
  details.struct_size = sizeof details;
  if (const guf_status status = call_entry(entry, note, minor, &buffer.api, &details);
      status != GUF_OK) {
    if (status < 100) {
      return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                        "backend %s breaks the plugin contract; its entry returned %d, which is "
                        "not an error status",
                        note.name.c_str(), status);
    }
    return base::fail_native(error, status, base::kNone, base::kNone, details.native_code,
                             "backend %s does not open; status %d: %s", note.name.c_str(), status,
                             details.message[0] != '\0' ? details.message : "no reason given");
  }
  GUF_TRY(check_table(buffer, note, minor, error));
  guf_backend_api api = buffer.api;
  if (api.struct_size <= offsetof(guf_backend_api, extension) || api.extension == nullptr) {
    api.extension = no_extension;
  }
  const auto has_minor_1 = [&api](size_t offset) {
    return api.abi_minor >= 1 && api.struct_size > offset;
  };
  if (!has_minor_1(offsetof(guf_backend_api, describe_launch)) || api.describe_launch == nullptr)
    api.describe_launch = no_description;
  if (!has_minor_1(offsetof(guf_backend_api, describe_method)) || api.describe_method == nullptr)
    api.describe_method = no_method_text;
  api.struct_size = sizeof api;
  *out = api;
  return GUF_OK;
}

guf_status open_plugin(const base::CheckedFile &file, const char *path, const BackendNote &note,
                       guf_backend_api *out, guf_error *error) {
  GUF_TRY(check_plugin_file(path, file, note, error));
  void *library = nullptr;
  GUF_TRY(base::open_library(file.descriptor.get(), RTLD_NODELETE, path, &library, error));
  void *const symbol = dlsym(library, kPluginEntry);
  if (symbol == nullptr) {
    return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                      "%s exports no %s; it is not a plugin of ABI %d", path, kPluginEntry,
                      GUF_BACKEND_ABI_MAJOR);
  }
  return open_table(reinterpret_cast<guf_backend_open_fn>(symbol), note, out, error);
}

}  // namespace gufunc::plugin
