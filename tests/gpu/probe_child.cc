// SPDX-License-Identifier: Apache-2.0
// Usage: probe_child <plugin> <driver's library> <descriptor> [fork|loaded]. Opens and probes the
// plugin in a new process, and writes the result to the descriptor. Prints nothing. With `fork`,
// the process then forks, and the child calls every slot. With `loaded`, the process opens the
// driver's library before it opens the plugin.
#include <dlfcn.h>
#include <gufunc/backend_gpu.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "tests/gpu/probe_report.h"
#include "tests/support/fresh_error.h"

namespace gufunc::gpu_test {
namespace {

void host_log(void *, int32_t, const char *) {}
void *host_alloc(void *, size_t size, size_t alignment) {
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void host_free(void *, void *memory) {
  std::free(memory);
}
const char *host_config(void *, const char *) {
  return nullptr;
}
const guf_host_api kHost = {
    sizeof(guf_host_api), GUF_BACKEND_ABI_MINOR, nullptr, host_log, host_alloc, host_free,
    host_config};

// Returns the number of calls that a simulated driver has received, or 0 if the library is not
// loaded or not a simulated driver.
uint64_t calls_of(void *library) {
  if (library == nullptr) return 0;
  const auto count =
      reinterpret_cast<uint64_t (*)(const char *)>(dlsym(library, "gufunc_sim_calls"));
  return count == nullptr ? 0 : count(nullptr);
}

// Returns the processor time of the process, which is independent of the load of the machine.
int64_t process_microseconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1000000 + now.tv_nsec / 1000;
}

struct Objects {
  void *device = nullptr, *stream = nullptr, *event = nullptr;
  uint64_t memory = 0;
};

guf_status open_objects(const guf_backend_api &api, Objects *out, guf_error *error) {
  guf_backend_device_info info = {};
  info.struct_size = sizeof(info);
  guf_status status = api.device_open(0, 0, &out->device, &info, error);
  if (status == GUF_OK) status = api.stream_open(out->device, 0, 0, &out->stream, error);
  if (status == GUF_OK) status = api.event_open(out->device, &out->event, error);
  if (status == GUF_OK) {
    status = api.memory_alloc(out->device, 64, GUF_MEMORY_DEVICE, nullptr, &out->memory, error);
  }
  return status;
}

// Calls several slots with these objects. Returns the number of slots that do not return
// `expected`.
int count_others(const guf_backend_api &api, const Objects &of, guf_status expected) {
  guf_error error = fresh_error();
  char bytes[64] = {};
  uint64_t address = 0;
  int wrong = 0;
  const auto check_status = [&](guf_status status) { wrong += status != expected; };
  check_status(api.memory_alloc(of.device, 64, GUF_MEMORY_DEVICE, nullptr, &address, &error));
  check_status(api.copy(of.device, nullptr, of.memory, reinterpret_cast<uint64_t>(bytes), 64,
                        GUF_COPY_HOST_TO_DEVICE, &error));
  check_status(api.fill(of.device, of.stream, of.memory, bytes, 1, 64, &error));
  check_status(api.event_record(of.event, of.stream, &error));
  check_status(api.stream_wait_event(of.stream, of.event, &error));
  check_status(api.event_synchronize(of.event, UINT64_MAX, &error));
  check_status(api.event_query(of.event, &error));
  check_status(api.stream_synchronize(of.stream, UINT64_MAX, &error));
  check_status(api.stream_query(of.stream, &error));
  if (expected == GUF_OK)
    api.memory_free(of.device, address, 64, GUF_MEMORY_DEVICE, nullptr, &error);
  return wrong;
}

// Calls the slots in a forked child. The parent has opened the driver. Returns the number of slots
// that return a wrong status.
int try_forked(const guf_backend_api &api, const Objects &of) {
  alarm(10);
  guf_error error = fresh_error();
  int wrong = count_others(api, of, GUF_E_FORKED);
  void *another = nullptr;
  guf_backend_device_info info = {};
  info.struct_size = sizeof(info);
  wrong += api.device_open(0, 0, &another, &info, &error) != GUF_E_FORKED;
  wrong += api.stream_open(of.device, 0, 0, &another, &error) != GUF_E_FORKED;
  wrong += api.event_open(of.device, &another, &error) != GUF_E_FORKED;
  const void *table = nullptr;
  wrong += api.extension("gufunc.gpu", GUF_GPU_EXTENSION_VERSION, &table, &error) != GUF_OK;
  const auto *gpu = static_cast<const guf_gpu_api *>(table);
  wrong +=
      gpu == nullptr || gpu->memory_limit(of.device, GUF_MEMORY_DEVICE, 1, &error) != GUF_E_FORKED;
  api.event_close(of.event);
  api.stream_close(of.stream);
  api.device_close(of.device);
  wrong += api.shutdown(1000000000, &error) != GUF_OK;
  return wrong;
}

void fork_and_query(const guf_backend_api &api, ProbeReport *report) {
  guf_error error = fresh_error();
  Objects objects;
  report->parent_wrong = open_objects(api, &objects, &error) != GUF_OK;
  if (report->parent_wrong != 0) return;
  // Queues work that may still be running when the process forks.
  api.fill(objects.device, objects.stream, objects.memory, "x", 1, 64, &error);
  const pid_t child = fork();
  if (child == 0) _exit(try_forked(api, objects));
  int ended = -1;
  waitpid(child, &ended, 0);
  report->forked_wrong = WIFEXITED(ended) ? WEXITSTATUS(ended) : 1000;
  report->parent_wrong = count_others(api, objects, GUF_OK);
  api.memory_free(objects.device, objects.memory, 64, GUF_MEMORY_DEVICE, nullptr, &error);
  api.event_close(objects.event);
  api.stream_close(objects.stream);
  api.device_close(objects.device);
}

ProbeReport make_report(const char *plugin, const char *driver, const char *mode) {
  ProbeReport report = {};
  const bool forks = std::strcmp(mode, "fork") == 0;
  if (std::strcmp(mode, "loaded") == 0 && dlopen(driver, RTLD_NOW | RTLD_LOCAL) == nullptr) {
    return report;
  }
  void *const library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return report;
  const auto open = reinterpret_cast<guf_backend_open_fn>(dlsym(library, "gufunc_backend_open_v1"));
  guf_backend_api api = {};
  api.struct_size = sizeof(api);
  guf_error error = fresh_error();
  if (open == nullptr || open(&kHost, GUF_BACKEND_ABI_MINOR, &api, &error) != GUF_OK) return report;
  void *const before = dlopen(driver, RTLD_NOW | RTLD_NOLOAD);
  report.calls_before = calls_of(before);
  report.library = before != nullptr ? 1 : 0;
  const int64_t start = process_microseconds();
  report.status = api.probe(&report.ndevices, report.driver, sizeof(report.driver), &error);
  report.microseconds = process_microseconds() - start;
  void *const after = dlopen(driver, RTLD_NOW | RTLD_NOLOAD);
  report.calls_after = calls_of(after);
  if (before == nullptr && after != nullptr) report.library = 2;
  if (report.status != GUF_OK) {
    report.native_code = error.native_code;
    std::memcpy(report.message, error.message, sizeof(report.message) - 1);
  }
  if (forks && report.status == GUF_OK) fork_and_query(api, &report);
  report.done = 1;
  return report;
}

}  // namespace
}  // namespace gufunc::gpu_test

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const auto report = gufunc::gpu_test::make_report(argv[1], argv[2], argc > 4 ? argv[4] : "");
  const int descriptor = std::atoi(argv[3]);
  return write(descriptor, &report, sizeof(report)) == sizeof(report) ? 0 : 1;
}
