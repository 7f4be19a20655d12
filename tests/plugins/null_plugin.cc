// SPDX-License-Identifier: Apache-2.0
// A backend without hardware. The backend counts calls, computes two functions, and fails as its
// script specifies.
#define GUFUNC_BACKEND_IMPLEMENTATION
#include <gufunc/backend.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/plugins/null_control.h"
#include "tests/plugins/null_kernels.h"
#include "tests/plugins/null_queue.h"
#include "tests/plugins/null_script.h"

GUF_BACKEND_NOTE("name=null;abi=0-1;priority=1;isa=x86-64;dlpack=77-0-0");

namespace null_plugin {
namespace {

// Returns from the slot if the script makes the call fail.
#define NULL_ENTER(slot)                                                                     \
  do {                                                                                       \
    if (const guf_status scripted = enter(slot, error); scripted != GUF_OK) return scripted; \
  } while (false)

struct Module {
  const Loop *entries;
};

Stream *as_stream(void *stream) {
  return static_cast<Stream *>(stream);
}

Event *as_event(void *event) {
  return static_cast<Event *>(event);
}

guf_status probe(int32_t *out_ndevices, char *out_driver, size_t driver_size, guf_error *error) {
  NULL_ENTER(k_probe);
  *out_ndevices = settings().devices.load();
  std::snprintf(out_driver, driver_size, "null driver 1");
  return GUF_OK;
}

guf_status device_open(int32_t index, uint64_t native, void **out_device,
                       guf_backend_device_info *out_info, guf_error *error) {
  NULL_ENTER(k_device_open);
  if (native != 0) return fail(error, GUF_E_UNSUPPORTED, "the null plugin adopts no context");
  auto *const device = new Device{index, settings().host_memory.load()};
  out_info->units = 1;
  out_info->memory_bytes = uint64_t{1} << 30;
  out_info->host_memory = device->host_memory ? 1 : 0;
  std::snprintf(out_info->name, sizeof out_info->name, "null device %d", index);
  std::snprintf(out_info->target, sizeof out_info->target, "null");
  std::snprintf(out_info->driver, sizeof out_info->driver, "null driver 1");
  *out_device = device;
  return GUF_OK;
}

void device_close(void *device) {
  enter(k_device_close, nullptr);
  delete static_cast<Device *>(device);
}

guf_status memory_alloc(void *device, uint64_t size, int32_t kind, void *, uint64_t *out_address,
                        guf_error *error) {
  NULL_ENTER(k_memory_alloc);
  void *const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) return fail(error, GUF_E_DEVICE_MEMORY, "malloc failed");
  ++live(kLiveMemory);
  const bool foreign = !static_cast<Device *>(device)->host_memory && kind == GUF_MEMORY_DEVICE;
  *out_address = reinterpret_cast<uint64_t>(memory) | (foreign ? kForeignBit : 0);
  return GUF_OK;
}

guf_status memory_free(void *, uint64_t address, uint64_t, int32_t, void *stream,
                       guf_error *error) {
  NULL_ENTER(k_memory_free);
  return submit(
      as_stream(stream),
      [=](guf_error *) {
        std::free(reinterpret_cast<void *>(to_host(address)));
        --live(kLiveMemory);
        return GUF_OK;
      },
      error);
}

guf_status copy(void *, void *stream, uint64_t dst, uint64_t src, uint64_t size, int32_t,
                guf_error *error) {
  NULL_ENTER(k_copy);
  return submit(
      as_stream(stream),
      [=](guf_error *) {
        std::memmove(reinterpret_cast<void *>(to_host(dst)),
                     reinterpret_cast<const void *>(to_host(src)), size);
        return GUF_OK;
      },
      error);
}

guf_status fill(void *, void *stream, uint64_t dst, const void *pattern, uint32_t pattern_size,
                uint64_t count, guf_error *error) {
  NULL_ENTER(k_fill);
  std::string bytes(static_cast<const char *>(pattern), pattern_size);
  return submit(
      as_stream(stream),
      [=](guf_error *) {
        char *const first = reinterpret_cast<char *>(to_host(dst));
        for (uint64_t i = 0; i < count; ++i) {
          std::memcpy(first + i * bytes.size(), bytes.data(), bytes.size());
        }
        return GUF_OK;
      },
      error);
}

// A NULL stream means the default stream. Work on it is complete when the slot returns, so the
// default stream never has queued work.
Stream *default_stream() {
  static Stream *const stream = new Stream;
  return stream;
}

guf_status stream_open(void *, uint64_t, uint32_t flags, void **out_stream, guf_error *error) {
  NULL_ENTER(k_stream_open);
  if (flags == GUF_BACKEND_STREAM_DEFAULT) {
    *out_stream = default_stream();
    return GUF_OK;
  }
  if (flags != 0) return fail(error, GUF_E_UNSUPPORTED, "unknown stream flags");
  auto *const stream = new Stream;
  null_plugin::open_stream(stream);
  ++live(kLiveStreams);
  *out_stream = stream;
  return GUF_OK;
}

void stream_close(void *stream) {
  enter(k_stream_close, nullptr);
  if (stream == default_stream()) return;
  null_plugin::close_stream(as_stream(stream));
  --live(kLiveStreams);
  delete as_stream(stream);
}

guf_status stream_query(void *stream, guf_error *error) {
  NULL_ENTER(k_stream_query);
  return query(as_stream(stream));
}

guf_status stream_synchronize(void *stream, uint64_t timeout_ns, guf_error *error) {
  NULL_ENTER(k_stream_synchronize);
  return synchronize(as_stream(stream), timeout_ns, error);
}

guf_status stream_wait_event(void *, void *event, guf_error *error) {
  NULL_ENTER(k_stream_wait_event);
  if (as_event(event)->pending) complete(UINT32_MAX);
  return GUF_OK;
}

guf_status event_open(void *, void **out_event, guf_error *error) {
  NULL_ENTER(k_event_open);
  *out_event = new Event;
  ++live(kLiveEvents);
  return GUF_OK;
}

void event_close(void *event) {
  enter(k_event_close, nullptr);
  if (as_event(event)->pending) complete(UINT32_MAX);
  --live(kLiveEvents);
  delete as_event(event);
}

guf_status event_record(void *event, void *stream, guf_error *error) {
  NULL_ENTER(k_event_record);
  Event *const mark = as_event(event);
  mark->pending = true;
  return submit(
      as_stream(stream),
      [mark, stream](guf_error *) {
        mark->failure = stream == nullptr ? Failure{} : as_stream(stream)->failure;
        mark->pending = false;
        return GUF_OK;
      },
      error);
}

guf_status event_query(void *event, guf_error *error) {
  NULL_ENTER(k_event_query);
  const Event *const mark = as_event(event);
  if (mark->pending) return GUF_NOT_READY;
  if (mark->failure.status != GUF_OK) *error = mark->failure.details;
  return mark->failure.status;
}

guf_status event_synchronize(void *event, uint64_t timeout_ns, guf_error *error) {
  NULL_ENTER(k_event_synchronize);
  if (as_event(event)->pending && (settings().stuck.load() || timeout_ns == 0)) return GUF_TIMEOUT;
  if (as_event(event)->pending) complete(UINT32_MAX);
  return event_query(event, error);
}

const guf_module_v1 *builtins(void) {
  enter(k_builtins, nullptr);
  return builtin_table();
}

int32_t image_score(void *device, const guf_module_image *image) {
  enter(k_image_score, nullptr);
  if (image->format == GUF_IMAGE_HOST) return static_cast<Device *>(device)->host_memory ? 1 : 0;
  return entries_of(*image) != nullptr ? 2 : 0;
}

guf_status module_load(void *, const guf_module_image *image, void **out_module, guf_error *error) {
  NULL_ENTER(k_module_load);
  *out_module = new Module{entries_of(*image)};
  ++live(kLiveModules);
  return GUF_OK;
}

void module_unload(void *module) {
  enter(k_module_unload, nullptr);
  --live(kLiveModules);
  delete static_cast<Module *>(module);
}

guf_status kernel_get(void *module, uint32_t index, const char *, void **out_kernel,
                      guf_error *error) {
  NULL_ENTER(k_kernel_get);
  *out_kernel = reinterpret_cast<void *>(static_cast<Module *>(module)->entries[index]);
  return GUF_OK;
}

// A copy of a launch block that remains valid after the call. It also contains copies of scalars
// whose memory belongs to the caller.
struct KeptBlock {
  explicit KeptBlock(const guf_launch_block &from) : block(from) {
    for (int32_t i = 0; i < block.noperands; ++i) {
      if ((block.operand_flags[i] & GUF_LAUNCH_OPERAND_IMMEDIATE) == 0) continue;
      std::memcpy(value[i], reinterpret_cast<const void *>(block.address[i]), sizeof value[i]);
      block.address[i] = reinterpret_cast<uint64_t>(value[i]);
    }
  }
  guf_launch_block block;
  alignas(16) unsigned char value[GUF_MAX_OPERANDS][16];
};

guf_status launch(void *, const guf_backend_launch *launch, guf_error *error) {
  NULL_ENTER(k_launch);
  const auto kept = std::make_shared<KeptBlock>(*launch->block);
  const auto loop = reinterpret_cast<Loop>(launch->kernel);
  void *const user = launch->user;
  return submit(
      as_stream(launch->stream),
      [=](guf_error *details) { return run_loop(loop, user, kept->block, details); }, error);
}

guf_status convert(void *, void *stream, const guf_launch_block *block, guf_error *error) {
  NULL_ENTER(k_convert);
  const auto kept = std::make_shared<KeptBlock>(*block);
  return submit(
      as_stream(stream), [=](guf_error *details) { return run_convert(kept->block, details); },
      error);
}

guf_status method(void *, const guf_backend_method *method, guf_error *error) {
  NULL_ENTER(k_method);
  const auto kept = std::make_shared<MethodCopy>(*method);
  return submit(
      as_stream(method->stream), [=](guf_error *details) { return run_method(*kept, details); },
      error);
}

guf_status shutdown(uint64_t timeout_ns, guf_error *error) {
  NULL_ENTER(k_shutdown);
  if (settings().stuck.load() && timeout_ns != UINT64_MAX) return GUF_TIMEOUT;
  complete(UINT32_MAX);
  return GUF_OK;
}

guf_status control_script(const char *text) {
  return run_script(text);
}

uint64_t control_calls(const char *slot) {
  return count_calls(slot);
}

uint64_t control_live(const char *what) {
  return count_live(what);
}

guf_status extension(const char *name, uint32_t version, const void **out_table, guf_error *error) {
  NULL_ENTER(k_extension);
  static constexpr null_control kControl = {control_script, reset_script, control_calls, complete,
                                            control_live};
  if (std::strcmp(name, "null.control") != 0 || version != 1) {
    return fail(error, GUF_E_UNSUPPORTED, "the null plugin has the extension null.control 1 only");
  }
  *out_table = &kControl;
  return GUF_OK;
}

guf_status describe_launch(void *, const guf_backend_launch *launch, char *out_text,
                           size_t text_size, guf_error *error) {
  NULL_ENTER(k_describe_launch);
  std::snprintf(out_text, text_size, "null: %llu items\n",
                static_cast<unsigned long long>(launch->block->items));
  return GUF_OK;
}

guf_status describe_method(void *, const guf_backend_method *method, char *out_text,
                           size_t text_size, guf_error *error) {
  NULL_ENTER(k_describe_method);
  std::snprintf(out_text, text_size, "null: method %d of %llu items\n", method->block->method,
                static_cast<unsigned long long>(method->block->items));
  return GUF_OK;
}

}  // namespace
}  // namespace null_plugin

guf_status gufunc_backend_open_v1(const guf_host_api *host, uint32_t minor, guf_backend_api *api,
                                  guf_error *error) {
  using namespace null_plugin;
  // A test opens the plugin again, without a host, to obtain the control table. In this case, the
  // current script remains in effect.
  if (host != nullptr) {
    const char *const script = host->config(host->context, "GUFUNC_NULL");
    if (script != nullptr && run_script(script) != GUF_OK) {
      return fail(error, GUF_E_ARG, "GUFUNC_NULL is malformed");
    }
  }
  *api = {};
  api->struct_size = sizeof *api;
  api->abi_minor = minor < 1 ? 0 : 1;
  api->name = "null";
  api->version = "1.0";
#define GUF_REQUIRED_SLOT(slot) api->slot = slot;
#define GUF_OPTIONAL_SLOT(slot) api->slot = slot;
#include <gufunc/backend_slots.def>
  return GUF_OK;
}
