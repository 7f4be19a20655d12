// SPDX-License-Identifier: Apache-2.0
// C API layer of the library as a whole: version, polling, log, shutdown and contexts.
#include <gufunc/context.h>

#include "abi/src/handles.h"
#include "core/base/log.h"
#include "core/memory/memory.h"
#include "core/op/ufunc_registry.h"
#include "core/plugin/registry.h"
#include "core/trace/trace.h"

using namespace gufunc;

uint32_t guf_version(void) {
  return uint32_t{GUF_VERSION_MAJOR} << 22 | uint32_t{GUF_VERSION_MINOR} << 12 |
         uint32_t{GUF_VERSION_PATCH};
}

const char *guf_version_string(void) {
  return GUFUNC_VERSION_TEXT;
}

guf_status guf_context_create(uint32_t flags, guf_context *out_context, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_context, "out_context", error));
    if (flags != 0) {
      return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "flags: expected 0, got 0x%x",
                        flags);
    }
    base::collect();
    const auto context = base::Ref<op::Context>::adopt(new op::Context);
    *out_context = capi::publish<guf_context>(context);
    return GUF_OK;
  });
}

guf_status guf_context_retain(guf_context context, guf_error *error) {
  return capi::retain(context, base::Kind::kContext, "context", error);
}

guf_status guf_context_release(guf_context context, guf_error *error) {
  const guf_status status = capi::release(context, base::Kind::kContext, "context", error);
  trace::flush();
  return status;
}

guf_status guf_poll(uint32_t max_callbacks, uint32_t *out_ran, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    const uint32_t ran = memory::run_callbacks(max_callbacks);
    if (out_ran != nullptr) *out_ran = ran;
    return GUF_OK;
  });
}

guf_status guf_log_read(char *text, size_t capacity, int32_t *out_level, guf_error *error) {
  GUF_TRY(capi::need(text, "text", error));
  GUF_TRY(capi::need(out_level, "out_level", error));
  if (capacity == 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "capacity is 0");
  }
  base::LogLevel level = base::LogLevel::kError;
  if (base::log_take(text, capacity, &level)) {
    *out_level = static_cast<int32_t>(level);
    return GUF_OK;
  }
  text[0] = '\0';
  *out_level = -1;
  return GUF_OK;
}

guf_status guf_shutdown(uint64_t timeout_ns, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(plugin::shut_down(timeout_ns, error));
    memory::run_callbacks(0);
    trace::end();
    return GUF_OK;
  });
}
