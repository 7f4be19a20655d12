// SPDX-License-Identifier: Apache-2.0
// The backends of the process. They are found by their notes and opened on demand. A backend that
// fails stays in the list, with the reason for its failure.
#ifndef GUFUNC_CORE_PLUGIN_REGISTRY_H
#define GUFUNC_CORE_PLUGIN_REGISTRY_H

#include <array>
#include <atomic>
#include <span>

#include "core/backend/backend.h"
#include "core/plugin/find_device.h"
#include "core/plugin/note.h"
#include "core/plugin/once.h"
#include "core/plugin/plugin_table.h"
#include "core/plugin/search_path.h"

namespace gufunc::plugin {

// Why a backend is or is not usable. Written before it is published, then never modified.
struct Outcome {
  guf_status status = GUF_OK;
  int32_t native_code = 0;
  std::string reason;
};

// All information about one backend. Immortal.
struct Record final : backend::Backend {
  BackendNote note;
  base::FileIdentity identity;
  guf_backend_open_fn linked_in = nullptr;  // the backend inside the library
  Outcome listed;                           // outcome of the search: trust, note, selection

  Once open_once;  // once done, `opened` and `api` are final
  Outcome opened;
  Once probe_once;  // once done, `probed`, `driver` and `ndevices` are final
  Outcome probed;
  char driver[64] = {};  // version of the driver
  int32_t ndevices = -1;

  struct Place {
    Once once;
    std::atomic<backend::Device *> device{nullptr};
  };
  static constexpr int32_t kMostDevices = 4096;  // maximum that a probe may report
  static constexpr int32_t kMostIndices = 64;
  std::array<Place, kMostIndices> places;  // indexed by the backend's device number

  // Returns the first failure of listing, opening and probing, as far as these steps have run.
  const Outcome &state() const;
};

// Returns all backends in order of preference. The first call reads the notes; no code of a plugin
// runs. Throws std::bad_alloc. The span stays valid forever.
std::span<Record *const> backends();

// Maps the plugin and checks its table. Calls no driver.
// Errors  the record's state;  GUF_E_NO_MEMORY <= the next call tries again
guf_status open_backend(Record &record, guf_error *error);

// Opens the backend, then queries the driver and its devices.
// Errors  as open_backend
guf_status probe_backend(Record &record, guf_error *error);

// Opens one device of a backend. `native` is a context of the program that the device uses if this
// call opens it; 0 selects the driver's own context.
// Errors  the record's state;  GUF_E_NO_DEVICE <= index, or too many devices in this process
//         those of the slot device_open
guf_status open_device(Record &record, int32_t index, backend::Device **out, guf_error *error,
                       uint64_t native = 0);

// Adds a plugin by its path and opens it, as guf_backend_load.
guf_status load_backend(const char *path, guf_error *error);

// Stops the threads and drops the caches of every open backend. After GUF_TIMEOUT, the backends
// that were not reached are unchanged.
guf_status shut_down(uint64_t timeout_ns, guf_error *error);

// One load. After shut_down, work that needs a device fails with GUF_E_SHUTDOWN.
bool is_shut_down();

// Makes the next cpu_device() look up the device again, so that it reports the shutdown.
void forget_cpu_device();

// The inputs of the search for plugins. Tests use inputs other than those of the process.
struct ListingRules {
  SearchSources sources;
  base::TrustRule trust;
  std::string selection;  // GUFUNC_BACKENDS: "cuda,cpu"; empty: all, by priority
  std::string disabled;   // GUFUNC_BACKENDS_DISABLE: a list of globs
};
ListingRules process_rules();

// Finds, checks, selects and sorts the backends. The caller owns the result.
std::vector<std::unique_ptr<Record>> list_backends(const ListingRules &rules);

}  // namespace gufunc::plugin

#endif  // GUFUNC_CORE_PLUGIN_REGISTRY_H
