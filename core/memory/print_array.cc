// SPDX-License-Identifier: Apache-2.0
// Prints an array: copies elements to the host, then formats values, shape, dtype and device.
#include <cstring>
#include <new>
#include <vector>

#include "core/array/print.h"
#include "core/memory/array_ops.h"
#include "core/plugin/find_device.h"

namespace gufunc::memory {
namespace {

// Collects the elements to print. Host memory is read in place; an array on a
// device is first copied to the host as a whole.
guf_status gather(array::Array &array, const array::Summary &summary, std::vector<std::byte> *out,
                  guf_error *error) {
  const uint64_t nbytes = summary.count * dtype::itemsize(array.layout().dtype);
  if (nbytes > out->max_size() / 2) throw std::bad_alloc();
  out->resize(nbytes);
  if (array.device() == nullptr || array.device()->host_memory) {
    GUF_TRY(synchronize(array, UINT64_MAX, error));
    const bool swapped = (array.flags() & GUF_ARRAY_SWAPPED) != 0;
    array::gather_summary(array.layout(), swapped, summary, out->data());
    return GUF_OK;
  }
  backend::Device *cpu = nullptr;
  GUF_TRY(plugin::cpu_device(&cpu, error));
  base::Ref<array::Array> here;
  GUF_TRY(to_device(array, *cpu, nullptr, &here, error));
  array::gather_summary(here->layout(), false, summary, out->data());
  return GUF_OK;
}

std::string shape_text(const array::Layout &layout) {
  std::string text = "(";
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(layout.shape[axis]);
  }
  return text + (layout.ndim == 1 ? ",)" : ")");
}

}  // namespace

guf_status print(array::Array &array, char *text, uint64_t *inout_length, guf_error *error) {
  const array::Layout &layout = array.layout();
  const array::Summary summary = array::summarize(layout);
  std::vector<std::byte> values;
  if (dtype::is_structured(layout.dtype)) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "elements of structured dtype '%s' have no text form",
                      dtype::name(layout.dtype));
  }
  GUF_TRY(gather(array, summary, &values, error));
  if (!array::has_text(layout.dtype, values.data(), summary.count)) {
    return base::fail(error, GUF_E_VALUE, base::kNone, base::kNone,
                      "Cannot convert a NumPy datetime value other than NaT with generic units");
  }
  std::string out = array::format_values(layout, summary, values.data());
  out += "\nshape " + shape_text(layout) + ", " + dtype::name(layout.dtype) + ", ";
  out += array.device() == nullptr ? "cpu" : array.device()->spec;
  const uint64_t capacity = *inout_length;
  *inout_length = out.size() + 1;
  if (capacity < out.size() + 1) {
    return base::fail(error, GUF_E_BUFFER_TOO_SMALL, base::kNone, base::kNone,
                      "text is too small; expected %zu bytes, got %llu", out.size() + 1,
                      static_cast<unsigned long long>(capacity));
  }
  std::memcpy(text, out.c_str(), out.size() + 1);
  return GUF_OK;
}

}  // namespace gufunc::memory
