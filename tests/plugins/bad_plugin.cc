// SPDX-License-Identifier: Apache-2.0
// A plugin that violates the contract in one way. The macro BAD_PLUGIN_<KIND> selects the
// violation. Everything else is valid, so a rejection has only one possible reason.
#include <gufunc/backend.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#if defined(BAD_PLUGIN_HOSTILE)
GUF_BACKEND_NOTE("name=hostile;abi=7-9;priority=1;isa=x86-64");
#elif defined(BAD_PLUGIN_ISA)
GUF_BACKEND_NOTE("name=isa;abi=0-0;priority=1;isa=x86-64-v9");
#elif defined(BAD_PLUGIN_GARBLED)
GUF_BACKEND_NOTE("name=garbled;abi=0-0;priority=high;isa=x86-64");
#elif !defined(BAD_PLUGIN_NO_NOTE)
GUF_BACKEND_NOTE("name=" BAD_PLUGIN_NAME ";abi=0-0;priority=1;isa=x86-64");
#endif

namespace {

#if defined(BAD_PLUGIN_HOSTILE) || defined(BAD_PLUGIN_ISA) || defined(BAD_PLUGIN_GARBLED) || \
    defined(BAD_PLUGIN_NO_NOTE) || defined(BAD_PLUGIN_ENDS_THE_PROCESS)
// Ends the process. No code of a plugin with an invalid note or invalid linking may run.
[[gnu::constructor]] void be_hostile() {
  std::_Exit(66);
}
#endif

#if defined(BAD_PLUGIN_FAST_MATH)
// Enables flush-to-zero, as a library that is linked with -ffast-math does.
[[gnu::constructor]] void flush_to_zero() {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040U);
#endif
}
#endif

// Fills every required slot. The library does not call a slot before it has accepted the table.
void slot() {}

template <class Function>
void set(Function *out) {
  *out = reinterpret_cast<Function>(&slot);
}

#if defined(BAD_PLUGIN_THROWS_IN_PROBE)
guf_status throwing_probe(int32_t *, char *, size_t, guf_error *) {
  throw std::runtime_error("probe");
}
#endif

#if defined(BAD_PLUGIN_NEGATIVE_COUNT) || defined(BAD_PLUGIN_HUGE_COUNT) || \
    defined(BAD_PLUGIN_ODD_PROBE)
guf_status wrong_probe(int32_t *out_ndevices, char *, size_t, guf_error *) {
#if defined(BAD_PLUGIN_NEGATIVE_COUNT)
  *out_ndevices = -5;
#elif defined(BAD_PLUGIN_HUGE_COUNT)
  *out_ndevices = 100000;
#else
  *out_ndevices = 1;
  return GUF_NOT_READY;
#endif
  return GUF_OK;
}
#endif

#if defined(BAD_PLUGIN_ODD_OPEN)
guf_status one_device(int32_t *out_ndevices, char *, size_t, guf_error *) {
  *out_ndevices = 1;
  return GUF_OK;
}
guf_status odd_open(int32_t, uint64_t, void **, guf_backend_device_info *, guf_error *) {
  return GUF_TIMEOUT;
}
#endif

const guf_module_v1 *no_builtins() {
  return nullptr;
}

void fill_table(guf_backend_api *api) {
  api->name = BAD_PLUGIN_NAME;
  api->version = "1.0";
#define GUF_REQUIRED_SLOT(slot) set(&api->slot);
#define GUF_OPTIONAL_SLOT(slot)
#include <gufunc/backend_slots.def>
  api->builtins = no_builtins;
}

[[maybe_unused]] guf_status open_plugin(guf_backend_api *api, guf_error *error) {
  (void)error;
#if defined(BAD_PLUGIN_NULL_TABLE)
  (void)fill_table;
  (void)api;
#else
  fill_table(api);
#endif
#if defined(BAD_PLUGIN_SHORT_TABLE)
  api->struct_size = 64;
#elif defined(BAD_PLUGIN_LONG_TABLE)
  std::memset(api + 1, 0x5a, 64);
#elif defined(BAD_PLUGIN_MISSING_SLOT)
  api->launch = nullptr;
#elif defined(BAD_PLUGIN_THROWS)
  throw std::runtime_error("open");
#elif defined(BAD_PLUGIN_THROWS_IN_PROBE)
  api->probe = throwing_probe;
#elif defined(BAD_PLUGIN_NEGATIVE_COUNT) || defined(BAD_PLUGIN_HUGE_COUNT) || \
    defined(BAD_PLUGIN_ODD_PROBE)
  api->probe = wrong_probe;
#elif defined(BAD_PLUGIN_ODD_OPEN)
  api->probe = one_device;
  api->device_open = odd_open;
#elif defined(BAD_PLUGIN_WRONG_NAME)
  api->name = "another";
#elif defined(BAD_PLUGIN_MINOR)
  api->abi_minor = 3;
#elif defined(BAD_PLUGIN_ODD_STATUS)
  return GUF_TIMEOUT;
#elif defined(BAD_PLUGIN_REFUSES)
  error->native_code = 42;
  std::strcpy(error->message, "it is Sunday");
  return GUF_E_ABI;
#endif
  return GUF_OK;
}

}  // namespace

#if !defined(BAD_PLUGIN_NO_SYMBOL)
#if defined(BAD_PLUGIN_WRONG_MAJOR)
#define BAD_PLUGIN_ENTRY gufunc_backend_open_v2
#else
#define BAD_PLUGIN_ENTRY gufunc_backend_open_v1
#endif
extern "C" GUF_API guf_status BAD_PLUGIN_ENTRY(const guf_host_api *, uint32_t, guf_backend_api *api,
                                               guf_error *error);
guf_status BAD_PLUGIN_ENTRY(const guf_host_api *, uint32_t, guf_backend_api *api,
                            guf_error *error) {
  return open_plugin(api, error);
}
#endif

#if defined(BAD_PLUGIN_MORE_EXPORTS)
extern "C" GUF_API void bad_plugin_helper();
void bad_plugin_helper() {}
#endif

#if defined(BAD_PLUGIN_NEEDS_GUFUNC)
extern "C" GUF_API uint32_t guf_version();
extern "C" const void *bad_plugin_reference();
const void *bad_plugin_reference() {
  return reinterpret_cast<const void *>(&guf_version);
}
#endif
