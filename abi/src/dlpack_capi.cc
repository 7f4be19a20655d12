// SPDX-License-Identifier: Apache-2.0
// C API layer of DLPack.
#include <gufunc/dlpack.h>

#include "abi/src/handles.h"
#include "core/memory/dlpack_arrays.h"

using namespace gufunc;

namespace {

using memory::DlpackStream;
using memory::ExportedTensor;
using memory::ImportedTensor;

constexpr uint32_t kStreams = GUF_DLPACK_LEGACY_STREAM | GUF_DLPACK_PER_THREAD_STREAM;

uint64_t flags_of(const guf_dlpack &managed) {
  return managed.flags;
}
uint64_t flags_of(const guf_dlpack_unversioned &) {
  return 0;
}

guf_status check_version(const guf_dlpack &managed, guf_error *error) {
  if (managed.major == 1) return GUF_OK;
  return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                    "DLPack version: expected 1.x, got %u.%u", managed.major, managed.minor);
}
guf_status check_version(const guf_dlpack_unversioned &, guf_error *) {
  return GUF_OK;
}

guf_status find_partner(guf_stream stream, uint32_t flags, uint32_t known, const char *parameter,
                        memory::DlpackPartner *out, guf_error *error) {
  if ((flags & ~known) != 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "flags has unknown bits: 0x%x",
                      flags & ~known);
  }
  if ((flags & kStreams) == kStreams || (stream != nullptr && (flags & kStreams) != 0)) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "flags 0x%x and %s, which is %s, select more than one stream", flags,
                      parameter, stream == nullptr ? "NULL" : "given");
  }
  out->other = (flags & GUF_DLPACK_LEGACY_STREAM) != 0       ? DlpackStream::kLegacy
               : (flags & GUF_DLPACK_PER_THREAD_STREAM) != 0 ? DlpackStream::kPerThread
                                                             : DlpackStream::kNone;
  return capi::find_stream(stream, &out->stream, error);
}

template <class Managed>
void delete_managed(void *managed) {
  auto *const taken = static_cast<Managed *>(managed);
  if (taken->deleter != nullptr) taken->deleter(taken);
}

template <class Managed>
guf_status take(Managed &managed, guf_stream ready_on, uint32_t flags, guf_array *out_array,
                guf_error *error) {
  GUF_TRY(capi::need(out_array, "out_array", error));
  GUF_TRY(check_version(managed, error));
  memory::DlpackPartner partner = {};
  GUF_TRY(find_partner(ready_on, flags, kStreams, "ready_on", &partner, error));
  GUF_TRY(capi::check_running(error));
  backend::collect_pending();
  base::collect();
  capi::run_deferred_callbacks();
  const auto taken =
      base::Ref<ImportedTensor>::adopt(new ImportedTensor(&managed, delete_managed<Managed>));
  base::Ref<array::Array> made;
  const bool read_only = (flags_of(managed) & GUF_DLPACK_READ_ONLY) != 0;
  GUF_TRY(memory::from_dlpack(managed.tensor, read_only, taken, partner, &made, error));
  *out_array = capi::publish<guf_array>(made);
  taken->arm();
  return GUF_OK;
}

// Takes ownership of the tensor, even if the call fails.
template <class Managed>
guf_status import_tensor(Managed *managed, guf_stream ready_on, uint32_t flags,
                         guf_array *out_array, guf_error *error) {
  GUF_TRY(capi::need(managed, "managed", error));
  const guf_status status =
      capi::guard(error, [&] { return take(*managed, ready_on, flags, out_array, error); });
  if (status != GUF_OK) delete_managed<Managed>(managed);
  return status;
}

// The common part of exports. `publish` makes the consumer's stream wait for the array and passes
// the tensor to the caller. After `publish` has succeeded, nothing may fail, because the caller
// owns the tensor.
template <class Publish>
guf_status export_array(guf_array array, guf_stream consumer, uint32_t flags, const void *out,
                        guf_error *error, Publish publish) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out, "out_managed", error));
    array::Array *found = nullptr;
    GUF_TRY(base::find_object(array, "array", &found, error));
    memory::DlpackPartner partner = {};
    GUF_TRY(
        find_partner(consumer, flags, kStreams | GUF_DLPACK_COPIED, "consumer", &partner, error));
    GUF_TRY(capi::check_running(error));
    base::collect();
    capi::run_deferred_callbacks();
    auto given = base::Ref<ExportedTensor>::adopt(
        new ExportedTensor(*found, (flags & GUF_DLPACK_COPIED) != 0));
    GUF_TRY(given->describe(error));
    GUF_TRY(publish(*given, *found, [&] { return given->make_consumer_wait(partner, error); }));
    given.leak();
    return GUF_OK;
  });
}

}  // namespace

guf_status guf_array_from_dlpack(guf_dlpack *managed, guf_stream ready_on, uint32_t flags,
                                 guf_array *out_array, guf_error *error) {
  return import_tensor(managed, ready_on, flags, out_array, error);
}

guf_status guf_array_from_dlpack_unversioned(guf_dlpack_unversioned *managed, guf_stream ready_on,
                                             uint32_t flags, guf_array *out_array,
                                             guf_error *error) {
  return import_tensor(managed, ready_on, flags, out_array, error);
}

guf_status guf_array_to_dlpack(guf_array array, guf_stream consumer, uint32_t flags,
                               guf_dlpack **out_managed, guf_error *error) {
  return export_array(
      array, consumer, flags, out_managed, error,
      [&](ExportedTensor &given, const array::Array &, auto make_consumer_wait) -> guf_status {
        GUF_TRY(make_consumer_wait());
        *out_managed = given.versioned();
        return GUF_OK;
      });
}

guf_status guf_array_to_dlpack_unversioned(guf_array array, guf_stream consumer, uint32_t flags,
                                           guf_dlpack_unversioned **out_managed, guf_error *error) {
  return export_array(
      array, consumer, flags, out_managed, error,
      [&](ExportedTensor &given, const array::Array &found, auto make_consumer_wait) -> guf_status {
        if ((found.flags() & GUF_ARRAY_READ_ONLY) != 0) {
          return base::fail(
              error, GUF_E_READ_ONLY, base::kNone, base::kNone,
              "the array is read-only, which an unversioned DLPack tensor cannot express");
        }
        GUF_TRY(make_consumer_wait());
        *out_managed = given.unversioned();
        return GUF_OK;
      });
}
