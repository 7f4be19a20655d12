// SPDX-License-Identifier: Apache-2.0
// The smallest backend that can run loops. It has one device, whose memory is host memory. The
// device runs the loops that programs register with guf_ufunc_add_loop; a launch runs on the
// caller's thread and is complete when the launch function returns. The backend has no kernels of
// its own, no casts and no masks; calls that need them fail with the backend's message. Start a new
// backend from a copy of this file.
#define GUFUNC_BACKEND_IMPLEMENTATION
#include <gufunc/backend/host.hpp>

GUF_BACKEND_NOTE("name=minimal;abi=0-1;priority=1;isa=x86-64");

namespace {

using namespace gufunc::sdk;

// ---- Devices

guf_status probe(int32_t *out_ndevices, char *out_driver, size_t driver_size, guf_error *) {
  *out_ndevices = 1;
  std::snprintf(out_driver, driver_size, "none");
  return GUF_OK;
}

guf_status device_open(int32_t index, uint64_t native, void **out_device,
                       guf_backend_device_info *out_info, guf_error *error) {
  if (native != 0) return fail(error, GUF_E_UNSUPPORTED, "the device has no context to adopt");
  out_info->units = 1;
  out_info->host_memory = 1;
  std::snprintf(out_info->name, sizeof out_info->name, "minimal device %d", index);
  std::snprintf(out_info->target, sizeof out_info->target, "host");
  *out_device = out_info->name;  // any non-null pointer: the device has no state
  return GUF_OK;
}

void device_close(void *) {}

// ---- Memory

constexpr size_t kAlignment = 64;

guf_status memory_alloc(void *, uint64_t size, int32_t, void *, uint64_t *out_address,
                        guf_error *error) {
  void *const memory = host_alloc(size == 0 ? 1 : size, kAlignment);
  if (memory == nullptr) return fail_memory(error, "an array");
  *out_address = reinterpret_cast<uint64_t>(memory);
  return GUF_OK;
}

guf_status memory_free(void *, uint64_t address, uint64_t, int32_t, void *, guf_error *) {
  host_free(reinterpret_cast<void *>(address));
  return GUF_OK;
}

guf_status copy(void *, void *, uint64_t dst, uint64_t src, uint64_t size, int32_t, guf_error *) {
  std::memmove(reinterpret_cast<void *>(dst), reinterpret_cast<const void *>(src), size);
  return GUF_OK;
}

guf_status fill(void *, void *, uint64_t dst, const void *pattern, uint32_t pattern_size,
                uint64_t count, guf_error *) {
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(reinterpret_cast<char *>(dst) + i * pattern_size, pattern, pattern_size);
  return GUF_OK;
}

// ---- Streams and events. All work is complete when the function that starts it returns, so no
// function has to wait.

char always_complete;

guf_status stream_open(void *, uint64_t native, uint32_t flags, void **out_stream,
                       guf_error *error) {
  if (native != 0 || flags != 0)
    return fail(error, GUF_E_UNSUPPORTED, "the device has no native streams and no stream flags");
  *out_stream = &always_complete;
  return GUF_OK;
}
void stream_close(void *) {}
guf_status stream_query(void *, guf_error *) {
  return GUF_OK;
}
guf_status stream_synchronize(void *, uint64_t, guf_error *) {
  return GUF_OK;
}
guf_status stream_wait_event(void *, void *, guf_error *) {
  return GUF_OK;
}

guf_status event_open(void *, void **out_event, guf_error *) {
  *out_event = &always_complete;
  return GUF_OK;
}
void event_close(void *) {}
guf_status event_record(void *, void *, guf_error *) {
  return GUF_OK;
}
guf_status event_query(void *, guf_error *) {
  return GUF_OK;
}
guf_status event_synchronize(void *, uint64_t, guf_error *) {
  return GUF_OK;
}

// ---- Kernels. The only kernels are functions that the program has registered as loops.

const guf_module_v1 *builtins() {
  return nullptr;
}

int32_t image_score(void *, const guf_module_image *image) {
  const bool registered = image->target == nullptr || image->target[0] == '\0';
  return image->format == GUF_IMAGE_HOST && image->entries != nullptr && registered ? 1 : 0;
}

guf_status module_load(void *, const guf_module_image *image, void **out_module, guf_error *) {
  *out_module = const_cast<void *>(static_cast<const void *>(image->entries));
  return GUF_OK;
}
void module_unload(void *) {}

guf_status kernel_get(void *module, uint32_t index, const char *, void **out_kernel, guf_error *) {
  *out_kernel = reinterpret_cast<void *>(static_cast<void (*const *)()>(module)[index]);
  return GUF_OK;
}

// Calls the loop once for each run along the innermost loop dimension, and advances the indices of
// the outer dimensions like an odometer.
guf_status launch(void *, const guf_backend_launch *launch, guf_error *error) {
  const guf_launch_block &block = *launch->block;
  constexpr uint32_t kRefused =
      GUF_LAUNCH_STATUS | GUF_LAUNCH_MASKED | GUF_LAUNCH_CAST | GUF_LAUNCH_SWAPPED;
  if ((block.flags & kRefused) != 0 || launch->fp_status != nullptr) {
    return fail(error, GUF_E_UNSUPPORTED,
                "the device runs plain loops on aligned operands of their dtypes only");
  }
  char *args[GUF_MAX_OPERANDS];
  for (int32_t i = 0; i < block.noperands; ++i)
    args[i] = reinterpret_cast<char *>(block.address[i]);
  int64_t index[GUF_MAX_LOOP_NDIM] = {};
  for (;;) {
    reinterpret_cast<guf_loop_numpy>(launch->kernel)(args, block.size, block.step, launch->user);
    int32_t dim = 0;
    for (; dim + 1 < block.nloop; ++dim) {
      const bool carry = ++index[dim] == block.outer_size[dim];
      const int64_t steps = carry ? 1 - block.outer_size[dim] : 1;
      for (int32_t i = 0; i < block.noperands; ++i) args[i] += steps * block.outer_step[dim][i];
      if (!carry) break;
      index[dim] = 0;
    }
    if (dim + 1 >= block.nloop) return GUF_OK;
  }
}

guf_status convert(void *, void *, const guf_launch_block *, guf_error *error) {
  return fail(error, GUF_E_UNSUPPORTED, "the device casts no elements");
}

guf_status method(void *, const guf_backend_method *, guf_error *error) {
  return fail(error, GUF_E_UNSUPPORTED, "the device has no methods");
}

guf_status shutdown(uint64_t, guf_error *) {
  return GUF_OK;
}

}  // namespace

guf_status gufunc_backend_open_v1(const guf_host_api *host, uint32_t host_minor,
                                  guf_backend_api *api, guf_error *) {
  set_host(host);
  guf_backend_api table = {};
  table.name = "minimal";
  table.version = "1.0";
#define GUF_REQUIRED_SLOT(slot) table.slot = slot;
#define GUF_OPTIONAL_SLOT(slot)  // left NULL
#include <gufunc/backend_slots.def>
  copy_table(table, host_minor, api);
  return GUF_OK;
}
