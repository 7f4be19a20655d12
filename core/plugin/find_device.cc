// SPDX-License-Identifier: Apache-2.0
// Finds the device for a spec such as "cuda:1". If the spec names a backend, the device is of that
// backend, or the search fails. The library chooses a backend only for the spec
// "auto".
#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/backend/extension.h"
#include "core/base/caller_state.h"
#include "core/base/log.h"
#include "core/base/utf8.h"
#include "core/plugin/list_backends.h"
#include "core/plugin/registry.h"

namespace gufunc::plugin {
namespace {

constinit std::atomic<backend::Device *> the_cpu{nullptr};

struct Spec {
  std::string_view name;
  int32_t index = 0;
};

constexpr size_t kQuoted = 60;  // maximum number of bytes of a malformed spec that a message quotes

bool parse_spec(std::string_view text, Spec *out) {
  const size_t colon = text.find(':');
  out->name = text.substr(0, colon);
  if (!is_backend_name(out->name)) return false;
  if (colon == std::string_view::npos) return true;
  const std::string_view digits = text.substr(colon + 1);
  if (digits.empty() || digits.size() > 4 || digits[0] < '0' || digits[0] > '9') return false;
  const char *const end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, out->index);
  return failure == std::errc() && stop == end;
}

guf_status no_such_backend(std::string_view name, guf_error *error) {
  base::Text found;
  std::span<Record *const> all;
  GUF_TRY(backends(&all, error));
  for (const Record *record : all) {
    found.add("%s%s", found.c_str()[0] == '\0' ? "" : ", ", record->name.c_str());
    if (record->state().status != GUF_OK) found.add(" (not usable)");
  }
  return base::fail(error, GUF_E_NO_BACKEND, base::kNone, base::kNone,
                    "no backend named '%.*s'; available: %s%s", static_cast<int>(name.size()),
                    name.data(), found.c_str()[0] == '\0' ? "none" : found.c_str(),
                    base::missing_proc().c_str());
}

// Errors  GUF_E_NO_BACKEND <= no backend of that name;  as backends()
guf_status find_record(std::string_view name, Record **out, guf_error *error) {
  std::span<Record *const> all;
  GUF_TRY(backends(&all, error));
  for (Record *record : all) {
    if (record->name != name) continue;
    *out = record;
    return GUF_OK;
  }
  return no_such_backend(name, error);
}

// Finds the candidates for "auto". They are in the order of GUFUNC_BACKENDS, which is the order of
// the list, or in descending order of priority if the variable is unset. Plugins that the program
// added by their path are last in the list.
guf_status automatic_candidates(std::vector<Record *> *out, guf_error *error) {
  std::span<Record *const> all;
  GUF_TRY(backends(&all, error));
  std::vector<Record *> candidates(all.begin(), all.end());
  if (environment("GUFUNC_BACKENDS").empty()) {
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Record *a, const Record *b) { return a->priority > b->priority; });
  }
  *out = std::move(candidates);
  return GUF_OK;
}

// Checks that the device, which an earlier call may have opened, uses the context `native`.
guf_status check_context(backend::Device &device, uint64_t native, guf_error *error) {
  const guf_gpu_api *api = nullptr;
  GUF_TRY(gpu_extension(device, "contexts", &api, error));
  backend::ErrorRecord record(error);
  uint64_t context = 0;
  int32_t index = 0;
  GUF_TRY(api->device_native(device.native, &context, &index, record.get()));
  if (context == native) return GUF_OK;
  if (context == 0) {
    return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                      "device %s has no context and cannot adopt one", device.spec.c_str());
  }
  return base::fail(error, GUF_E_EXISTS, base::kNone, base::kNone,
                    "native: got 0x%llx, but device %s is open already, over the context 0x%llx",
                    static_cast<unsigned long long>(native), device.spec.c_str(),
                    static_cast<unsigned long long>(context));
}

}  // namespace

guf_status choose_device(backend::Device **out, guf_error *error) {
  base::Text reasons;
  std::vector<Record *> candidates;
  GUF_TRY(automatic_candidates(&candidates, error));
  for (Record *record : candidates) {
    guf_error details = {};
    details.struct_size = sizeof details;
    const guf_status status = open_device(*record, 0, out, &details);
    if (status == GUF_OK) {
      base::log(
          base::LogLevel::kInformation, "device auto is %s%s%s%s", (*out)->spec.c_str(),
          (*out)->host_memory ? "" : "; calls on host arrays that are faster on the cpu stay there",
          reasons.c_str()[0] == '\0' ? "" : "; not usable: ", reasons.c_str());
      return GUF_OK;
    }
    if (status == GUF_E_SHUTDOWN) return open_device(*record, 0, out, error);
    // The caller's context stores the device permanently. A temporary lack of memory or of file
    // descriptors is therefore an error: otherwise the context would permanently store the next
    // best device.
    if (base::is_shortage(status, details.native_code))
      return base::copy_error(status, details, error);
    reasons.add("%s%s: %s", reasons.c_str()[0] == '\0' ? "" : "; ", record->name.c_str(),
                details.message);
  }
  return base::fail(error, GUF_E_NO_BACKEND, base::kNone, base::kNone,
                    "no backend is usable for device auto; %s%s",
                    reasons.c_str()[0] == '\0' ? "none was found" : reasons.c_str(),
                    base::missing_proc().c_str());
}

guf_status find_device(const char *spec, backend::Device **out, guf_error *error) {
  const std::string_view text(spec);
  if (text == "auto") return choose_device(out, error);
  Spec parsed;
  if (!parse_spec(text, &parsed)) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "malformed device; expected auto, <backend> or <backend>:<index>, got '%.*s'",
                      base::utf8_prefix(text, kQuoted), spec);
  }
  Record *record = nullptr;
  GUF_TRY(find_record(parsed.name, &record, error));
  return open_device(*record, parsed.index, out, error);
}

guf_status adopt_device(const char *spec, uint64_t native, backend::Device **out,
                        guf_error *error) {
  Spec parsed;
  if (std::string_view(spec) == "auto" || !parse_spec(spec, &parsed)) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "device to adopt: expected <backend> or <backend>:<index>, got '%.*s'",
                      base::utf8_prefix(spec, kQuoted), spec);
  }
  Record *record = nullptr;
  GUF_TRY(find_record(parsed.name, &record, error));
  backend::Device *device = nullptr;
  GUF_TRY(open_device(*record, parsed.index, &device, error, native));
  GUF_TRY(check_context(*device, native, error));
  *out = device;
  return GUF_OK;
}

guf_status cpu_device(backend::Device **out, guf_error *error) {
  *out = the_cpu.load(std::memory_order_acquire);
  if (__builtin_expect(*out != nullptr, 1)) return GUF_OK;
  const base::CallerState kept;
  GUF_TRY(find_device("cpu", out, error));
  if (!(*out)->host_memory) {
    return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                      "backend cpu breaks the plugin contract; its device has no host memory");
  }
  the_cpu.store(*out, std::memory_order_release);
  return GUF_OK;
}

void forget_cpu_device() {
  the_cpu.store(nullptr, std::memory_order_release);
}

}  // namespace gufunc::plugin
