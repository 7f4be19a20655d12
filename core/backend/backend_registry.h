// SPDX-License-Identifier: Apache-2.0
// The backends of the process: found by their notes, opened when asked for, described as data when
// they fail.
#ifndef GUFUNC_CORE_BACKEND_BACKEND_REGISTRY_H
#define GUFUNC_CORE_BACKEND_BACKEND_REGISTRY_H

#include <array>
#include <atomic>
#include <span>

#include "core/backend/backend.h"
#include "core/backend/backend_note.h"
#include "core/backend/once.h"
#include "core/backend/plugin_table.h"
#include "core/backend/search_path.h"

namespace gufunc::backend {

// Why a backend is or is not usable. Written before it is published, never changed afterwards.
struct Outcome {
  guf_status status = GUF_OK;
  int32_t native_code = 0;
  std::string reason;
};

// One backend with everything known about it. Immortal.
struct Record final : Backend {
  BackendNote note;
  FileIdentity identity;
  guf_backend_open_fn linked_in = nullptr;  // the backend inside the library
  Outcome listed;                           // of finding: trust, note, selection

  Once open_once;  // then `opened` and `api` are final
  Outcome opened;
  Once probe_once;  // then `probed`, `driver` and `ndevices` are final
  Outcome probed;
  char driver[64] = {};  // its version
  int32_t ndevices = -1;

  struct Place {
    Once once;
    std::atomic<Device *> device{nullptr};
  };
  static constexpr int32_t kMostDevices = 4096;  // that a probe may count
  static constexpr int32_t kMostIndices = 64;
  std::array<Place, kMostIndices> places;  // by the backend's own numbers

  // The worst that is known by now.
  const Outcome &state() const;
};

// All backends, in the order of preference. The first call reads notes; no plugin's code runs.
// Throws std::bad_alloc. The span stays valid for ever.
std::span<Record *const> backends();

// Maps the plugin and checks its table; calls no driver.
// Errors  the record's state;  GUF_E_NO_MEMORY <= the next call tries anew
guf_status open_backend(Record &record, guf_error *error);

// Opens, then asks for the driver and its devices.  Errors  as open_backend
guf_status probe_backend(Record &record, guf_error *error);

// One of a backend's devices. `native`: where nobody has opened it yet, the context of the
// program's that it is opened over; 0: the driver's own.
// Errors  the record's state;  GUF_E_NO_DEVICE <= index, or too many devices in this process;
//         device_open's own
guf_status open_device(Record &record, int32_t index, Device **out, guf_error *error,
                       uint64_t native = 0);

// As guf_device_adopt.
guf_status adopt_device(const char *spec, uint64_t native, Device **out, guf_error *error);

// Adds a plugin by path and opens it, as guf_backend_load.
guf_status load_backend(const char *path, guf_error *error);

// "auto" is decided where it is asked for: a context keeps the answer.
guf_status choose_device(Device **out, guf_error *error);

// Stops the threads and drops the caches of every open backend. GUF_TIMEOUT: nothing changed for
// those not reached.
guf_status shut_down(uint64_t timeout_ns, guf_error *error);

// One load. After shut_down, work that needs a device answers GUF_E_SHUTDOWN.
bool is_shut_down();

// The next cpu_device() asks again, and learns that the library was shut down.
void forget_cpu_device();

// How the search for plugins goes on, with everything it depends on named: tests make their own.
struct ListingRules {
  SearchSources sources;
  TrustRule trust;
  std::string selection;  // GUFUNC_BACKENDS: "cuda,cpu"; empty: all, by priority
  std::string disabled;   // GUFUNC_BACKENDS_DISABLE: a list of globs
};
ListingRules process_rules();

// Finds, judges, selects and orders. Owned by the caller.
std::vector<std::unique_ptr<Record>> list_backends(const ListingRules &rules);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_BACKEND_REGISTRY_H
