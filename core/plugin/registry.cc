// SPDX-License-Identifier: Apache-2.0
// The list of backends of the process, and the steps from a file to an open device. Each step runs
// once, without a lock, and its outcome is stored. A backend that failed is reported with the
// reason and is not opened again, unless it failed for lack of memory or of file descriptors. A
// device that could not be opened is opened again by the next call.
#include "core/plugin/registry.h"
#include "core/plugin/list_backends.h"

#include <algorithm>
#include <mutex>
#include <new>

#include "core/backend/kernel_table.h"
#include "core/base/log.h"
#include "core/trace/trace.h"

namespace gufunc::plugin {
namespace {

// A list of backends. Lists are never freed, because readers may still use an older list.
struct RecordList {
  std::vector<Record *> records;
  const RecordList *older = nullptr;
};

constinit std::atomic<const RecordList *> published{nullptr};
constinit std::atomic<bool> stopped{false};
// Device number 0 is reserved for the cpu, to which host memory belongs.
constinit std::atomic<int32_t> ndevices_open{1};

Once &listing_once() {
  static constinit Once once;
  return once;
}

base::ForkLock &list_lock() {
  static constinit base::ForkLock lock;
  return lock;
}

guf_status report(const Outcome &outcome, guf_error *error) {
  if (outcome.status == GUF_OK) return GUF_OK;
  return base::fail_native(error, outcome.status, base::kNone, base::kNone, outcome.native_code,
                           "%s", outcome.reason.c_str());
}

guf_status forked(const Record &record, guf_error *error) {
  return base::fail(error, GUF_E_FORKED, base::kNone, base::kNone,
                    "the process was forked while backend %s was being opened",
                    record.name.c_str());
}

// Runs a step that has no outcome yet, and stores the outcome in `kept`.
template <class Step>
guf_status take_step(const Record &record, Once *once, Outcome *kept, guf_error *error, Step step) {
  Outcome outcome;
  const auto result = once->run([&] {
    outcome = step();
    if (base::is_shortage(outcome.status, outcome.native_code)) return false;
    *kept = std::move(outcome);
    return true;
  });
  if (result == Once::Result::kForked) return forked(record, error);
  return report(result == Once::Result::kFailed ? outcome : *kept, error);
}

guf_status check_not_shut_down(guf_error *error) {
  if (!is_shut_down()) return GUF_OK;
  return base::fail(error, GUF_E_SHUTDOWN, base::kNone, base::kNone,
                    "the library was shut down; it opens no device any more");
}

// Opens the plugin's file. If the file has been replaced since it was listed,
// all checks are repeated on the new file.
guf_status open_listed_file(const Record &record, guf_backend_api *api, guf_error *error) {
  const char *const path = record.path.c_str();
  base::CheckedFile file;
  GUF_TRY(base::open_regular(path, &file, error));
  if (file.identity != record.identity) {
    BackendNote note;
    base::TrustRule trust;
    GUF_TRY(base::process_trust(&trust, error));
    GUF_TRY(base::check_trust(path, file, trust, error));
    GUF_TRY(read_backend_note(path, file, &note, error));
    GUF_TRY(check_backend_note(note, error));
    if (note.name != record.name) {
      return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                        "%s was replaced by another backend, '%s'", path, note.name.c_str());
    }
    return open_plugin(file, path, note, api, error);
  }
  return open_plugin(file, path, record.note, api, error);
}

// Catches the exceptions of slots that run only once. The C API layer catches the exceptions of all
// other slots.
template <class Call>
guf_status call_plugin(const Record &record, const char *slot, guf_error *error, Call call) {
  try {
    return call();
  } catch (const std::bad_alloc &) {
    throw;
  } catch (...) {
    return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                      "backend %s breaks the plugin contract; its slot '%s' threw an exception",
                      record.name.c_str(), slot);
  }
}

// Checks the kernel table of the standard library like any other kernel table.
guf_status check_builtins(const Record &record, const guf_backend_api &api, guf_error *error) {
  const guf_module_v1 *table = nullptr;
  GUF_TRY(call_plugin(record, "builtins", error, [&] {
    table = api.builtins();
    return GUF_OK;
  }));
  return table == nullptr ? GUF_OK : backend::check_table(table, backend::TableRules{}, error);
}

guf_status open_table_of(const Record &record, guf_backend_api *api, guf_error *error) {
  if (record.linked_in != nullptr) {
    GUF_TRY(open_table(record.linked_in, record.note, api, error));
  } else {
    GUF_TRY(open_listed_file(record, api, error));
  }
  return check_builtins(record, *api, error);
}

Outcome open_now(Record &record) {
  guf_error error = {};
  error.struct_size = sizeof error;
  guf_backend_api api;
  const guf_status status = open_table_of(record, &api, &error);
  if (status != GUF_OK) {
    base::log(base::LogLevel::kWarning, "%s", error.message);
    return {status, error.native_code, error.message};
  }
  trace::interpose(record.name.c_str(), &api);
  record.api = api;
  return {};
}

// Checks that the status of a failing slot is an error code, which is at least 100.
guf_status check_slot_status(const Record &record, const char *slot, guf_status status,
                             guf_error *error) {
  if (status == GUF_OK || status >= 100) return status;
  return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                    "backend %s breaks the plugin contract; its slot '%s' returned %d, expected 0 "
                    "or a status of 100 or more",
                    record.name.c_str(), slot, status);
}

guf_status call_probe(Record &record, int32_t *out_ndevices, guf_error *error) {
  const guf_status status = call_plugin(record, "probe", error, [&] {
    return record.api.probe(out_ndevices, record.driver, sizeof record.driver, error);
  });
  record.driver[sizeof record.driver - 1] = '\0';
  GUF_TRY(check_slot_status(record, "probe", status, error));
  if (*out_ndevices >= 0 && *out_ndevices <= Record::kMaxProbedDevices) return GUF_OK;
  return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                    "backend %s breaks the plugin contract; its slot 'probe' counted %d devices, "
                    "expected 0 to %d",
                    record.name.c_str(), *out_ndevices, Record::kMaxProbedDevices);
}

Outcome probe_now(Record &record) {
  guf_error error = {};
  error.struct_size = sizeof error;
  int32_t ndevices = 0;
  const guf_status status = call_probe(record, &ndevices, &error);
  if (status != GUF_OK) {
    const std::string reason = error.message[0] != '\0' ? error.message : "no reason given";
    base::log(base::LogLevel::kInformation, "backend %s is not usable: %s", record.name.c_str(),
              reason.c_str());
    record.ndevices = 0;
    return {status, error.native_code, reason};
  }
  if (ndevices == 0) {
    record.ndevices = 0;
    const std::string why = record.driver[0] == '\0' ? "" : std::string(": ") + record.driver;
    return {GUF_E_NO_DEVICE, 0, "backend " + record.name + " found no device" + why};
  }
  record.ndevices = ndevices;
  return {};
}

// Reserves a device number of the process. Returns false if all numbers are in use.
bool take_number(bool is_cpu, int32_t *out) {
  if (is_cpu) return *out = 0, true;
  int32_t number = ndevices_open.load(std::memory_order_relaxed);
  do {
    if (number >= op::kMaxDevices) return false;
  } while (!ndevices_open.compare_exchange_weak(number, number + 1, std::memory_order_relaxed));
  *out = number;
  return true;
}

guf_status fail_device_limit(const backend::Device &device, guf_error *error) {
  return base::fail(
      error, GUF_E_NO_DEVICE, base::kNone, base::kNone,
      "device %s cannot be opened: a process can open at most %d devices besides the cpu",
      device.spec.c_str(), op::kMaxDevices - 1);
}

// Ensures that the strings of a plugin end inside their fields.
void terminate_texts(guf_backend_device_info *info) {
  info->name[sizeof info->name - 1] = '\0';
  info->target[sizeof info->target - 1] = '\0';
  info->driver[sizeof info->driver - 1] = '\0';
}

guf_status make_device(Record &record, int32_t index, uint64_t native, backend::Device **out,
                       guf_error *error) {
  auto device = std::make_unique<backend::Device>();
  device->backend = &record;
  device->index = index;
  device->spec = record.name == "cpu" ? record.name : record.name + ":" + std::to_string(index);
  device->info.struct_size = sizeof device->info;
  const bool is_cpu = record.name == "cpu" && index == 0;
  // The limit is checked before device_open, in which the driver may create a context. If two
  // threads compete for the last number, one of them fails in take_number below.
  if (!is_cpu && ndevices_open.load(std::memory_order_relaxed) >= op::kMaxDevices) {
    return fail_device_limit(*device, error);
  }
  backend::ErrorRecord details(error);
  const guf_status status = call_plugin(record, "device_open", error, [&] {
    return record.api.device_open(index, native, &device->native, &device->info, details.get());
  });
  GUF_TRY(check_slot_status(record, "device_open", status, error));
  terminate_texts(&device->info);
  device->host_memory = device->info.host_memory != 0;
  if (!take_number(is_cpu, &device->number)) {
    record.api.device_close(device->native);
    return fail_device_limit(*device, error);
  }
  device->handle = base::publish(device.get(), true);
  *out = device.release();
  return GUF_OK;
}

guf_status publish_list(guf_error *error) {
  ListingRules rules;
  GUF_TRY(process_rules(&rules, error));
  std::vector<std::unique_ptr<Record>> found;
  GUF_TRY(list_backends(rules, &found, error));
  auto fresh = std::make_unique<RecordList>();
  fresh->records.reserve(found.size());
  for (std::unique_ptr<Record> &record : found) fresh->records.push_back(record.release());
  published.store(fresh.release(), std::memory_order_release);
  return GUF_OK;
}

}  // namespace

const Outcome &Record::state() const {
  if (listed.status != GUF_OK || !open_once.done()) return listed;
  if (opened.status != GUF_OK || !probe_once.done()) return opened;
  return probed;
}

guf_status backends(std::span<Record *const> *out, guf_error *error) {
  const RecordList *list = published.load(std::memory_order_acquire);
  if (list == nullptr) {
    guf_status status = GUF_OK;
    const auto result = listing_once().run([&] {
      status = publish_list(error);
      return status == GUF_OK;
    });
    if (result == Once::Result::kFailed) return status;
    if (result == Once::Result::kForked) {
      return base::fail(error, GUF_E_FORKED, base::kNone, base::kNone,
                        "the process was forked while the backends were being listed");
    }
    list = published.load(std::memory_order_acquire);
  }
  *out = list->records;
  return GUF_OK;
}

guf_status open_backend(Record &record, guf_error *error) {
  GUF_TRY(report(record.listed, error));
  return take_step(record, &record.open_once, &record.opened, error,
                   [&] { return open_now(record); });
}

guf_status probe_backend(Record &record, guf_error *error) {
  GUF_TRY(open_backend(record, error));
  return take_step(record, &record.probe_once, &record.probed, error,
                   [&] { return probe_now(record); });
}

guf_status open_device(Record &record, int32_t index, backend::Device **out, guf_error *error,
                       uint64_t native) {
  GUF_TRY(check_not_shut_down(error));
  GUF_TRY(probe_backend(record, error));
  if (index < 0 || index >= record.ndevices) {
    return base::fail(error, GUF_E_NO_DEVICE, base::kNone, base::kNone,
                      "no device %s:%d; backend %s has %d device(s)", record.name.c_str(), index,
                      record.name.c_str(), record.ndevices);
  }
  if (index >= Record::kMaxIndices) {
    return base::fail(error, GUF_E_NO_DEVICE, base::kNone, base::kNone,
                      "device %s:%d: of the backend's %d devices the first %d can be opened",
                      record.name.c_str(), index, record.ndevices, Record::kMaxIndices);
  }
  Record::DeviceEntry &entry = record.device_entries[static_cast<size_t>(index)];
  guf_status status = GUF_OK;
  const auto result = entry.once.run([&] {
    backend::Device *device = nullptr;
    status = make_device(record, index, native, &device, error);
    entry.device.store(device, std::memory_order_release);
    return status == GUF_OK;
  });
  if (result == Once::Result::kForked) return forked(record, error);
  if (result == Once::Result::kFailed) return status;
  *out = entry.device.load(std::memory_order_acquire);
  return GUF_OK;
}

guf_status load_backend(const char *path, guf_error *error) {
  if (path == nullptr || path[0] != '/') {
    return base::fail(error, GUF_E_ARG, 0, base::kNone, "path is NULL or not absolute; got %s",
                      path == nullptr ? "NULL" : path);
  }
  auto record = std::make_unique<Record>();
  base::CheckedFile file;
  GUF_TRY(base::open_regular(path, &file, error));
  if (base::process_is_privileged()) {
    base::TrustRule trust;
    GUF_TRY(base::process_trust(&trust, error));
    GUF_TRY(base::check_trust(path, file, trust, error));
  }
  GUF_TRY(read_backend_note(path, file, &record->note, error));
  GUF_TRY(check_backend_note(record->note, error));
  record->path = path;
  record->name = record->note.name;
  record->priority = record->note.priority;
  record->dlpack = record->note.dlpack;
  record->identity = file.identity;

  const auto is_taken = [&](const Record &other) {
    return other.name == record->name && other.open_once.done() && other.opened.status == GUF_OK;
  };
  const auto exists = [&] {
    return base::fail(error, GUF_E_EXISTS, base::kNone, base::kNone,
                      "a backend named %s is loaded already", record->name.c_str());
  };
  std::span<Record *const> all;
  GUF_TRY(backends(&all, error));
  for (const Record *other : all) {
    if (is_taken(*other)) return exists();
  }
  GUF_TRY(open_plugin(file, path, record->note, &record->api, error));
  GUF_TRY(check_builtins(*record, record->api, error));
  trace::interpose(record->name.c_str(), &record->api);
  record->open_once.run([] { return true; });

  // The new list is built under the lock, so that no addition is lost. Readers take no lock.
  const std::lock_guard<base::ForkLock> lock(list_lock());
  auto fresh = std::make_unique<RecordList>();
  fresh->older = published.load(std::memory_order_acquire);
  if (fresh->older != nullptr) fresh->records = fresh->older->records;
  auto &records = fresh->records;
  records.reserve(records.size() + 1);
  const auto same = std::find_if(records.begin(), records.end(),
                                 [&](const Record *other) { return other->name == record->name; });
  if (same != records.end() && is_taken(**same)) return exists();
  if (same != records.end()) {
    *same = record.release();
  } else {
    records.push_back(record.release());
  }
  published.store(fresh.release(), std::memory_order_release);
  return GUF_OK;
}

guf_status shut_down(uint64_t timeout_ns, guf_error *error) {
  if (const RecordList *const list = published.load(std::memory_order_acquire); list != nullptr) {
    for (Record *record : list->records) {
      if (!record->open_once.done() || record->opened.status != GUF_OK) continue;
      backend::ErrorRecord details(error);
      GUF_TRY(record->api.shutdown(timeout_ns, details.get()));
    }
  }
  stopped.store(true, std::memory_order_release);
  forget_cpu_device();
  return GUF_OK;
}

bool is_shut_down() {
  return stopped.load(std::memory_order_acquire);
}

}  // namespace gufunc::plugin
