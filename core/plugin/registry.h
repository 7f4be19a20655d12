// SPDX-License-Identifier: Apache-2.0
// The backends of the process. They are found by their notes and opened on demand. A backend that
// fails stays in the list, with the reason for the failure.
#ifndef GUFUNC_CORE_PLUGIN_REGISTRY_H
#define GUFUNC_CORE_PLUGIN_REGISTRY_H

#include <array>
#include <atomic>
#include <span>

#include "core/backend/backend.h"
#include "core/plugin/find_device.h"
#include "core/plugin/once.h"
#include "core/plugin/plugin_file.h"
#include "core/plugin/plugin_table.h"

namespace gufunc::plugin {

// Whether a backend is usable, and why not. Never modified after it is published.
struct Outcome {
  guf_status status = GUF_OK;
  int32_t native_code = 0;
  std::string reason;
};

// All information about one backend. Never destroyed.
struct Record final : backend::Backend {
  BackendNote note;
  base::FileIdentity identity;
  guf_backend_open_fn linked_in = nullptr;  // entry function of a backend inside the library
  Outcome listed;                           // outcome of the search: trust, note, selection

  Once open_once;  // once done, `opened` and `api` are final
  Outcome opened;
  Once probe_once;  // once done, `probed`, `driver` and `ndevices` are final
  Outcome probed;
  char driver[64] = {};  // the driver's version
  int32_t ndevices = -1;

  struct DeviceEntry {
    Once once;
    std::atomic<backend::Device *> device{nullptr};
  };
  static constexpr int32_t kMaxProbedDevices = 4096;  // limit for the result of a probe
  static constexpr int32_t kMaxIndices = 64;
  std::array<DeviceEntry, kMaxIndices> device_entries;  // indexed by the backend's device number

  // Returns the first failure among the steps that have run: listing, opening, probing.
  const Outcome &state() const;
};

// Finds all backends in order of preference. The first call reads the notes, but runs no code of a
// plugin. Throws std::bad_alloc. The span stays valid forever.
// Errors  GUF_E_NO_MEMORY, GUF_E_IO <= no memory or file descriptor is available; nothing is
//                                      stored, and the next call tries again
//         GUF_E_FORKED <= the process was forked while another thread read the notes
guf_status backends(std::span<Record *const> *out, guf_error *error);

// Maps the plugin and checks its table. Calls no driver.
// Errors  as stored in the record
//         GUF_E_NO_MEMORY, GUF_E_IO <= no memory or file descriptor is available; nothing is
//                                      stored, and the next call tries again
guf_status open_backend(Record &record, guf_error *error);

// Opens the backend, then queries the driver and its devices.
// Errors  as open_backend
guf_status probe_backend(Record &record, guf_error *error);

// Opens one device of a backend. The first call for a device opens the device with the program's
// context `native`, or with the driver's own context if `native` is 0.
// Errors  as stored in the record
//         GUF_E_NO_DEVICE <= an invalid index, or too many devices in this process
//         otherwise as the slot device_open
guf_status open_device(Record &record, int32_t index, backend::Device **out, guf_error *error,
                       uint64_t native = 0);

// Adds a plugin by its path and opens it, like guf_backend_load.
guf_status load_backend(const char *path, guf_error *error);

// Stops the threads and frees the caches of every open backend. If this function returns
// GUF_TIMEOUT, the remaining backends are unchanged.
guf_status shut_down(uint64_t timeout_ns, guf_error *error);

// Returns whether shut_down was called. Costs one atomic load. After shut_down, work that needs a
// device fails with GUF_E_SHUTDOWN.
bool is_shut_down();

// Makes the next cpu_device() look up the device again, so that the call reports the shutdown.
void forget_cpu_device();

}  // namespace gufunc::plugin

#endif  // GUFUNC_CORE_PLUGIN_REGISTRY_H
