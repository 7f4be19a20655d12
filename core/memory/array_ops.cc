// SPDX-License-Identifier: Apache-2.0
// Operations on whole arrays. Each operation checks its arguments, with NumPy's messages, and then
// makes one transfer. To print an array, `print` copies the elements to the host and then formats
// the values, the shape, the dtype and the device.
#include "core/memory/array_ops.h"

#include <cstring>
#include <new>
#include <vector>

#include "core/array/overlap.h"
#include "core/array/print.h"
#include "core/array/views.h"
#include "core/backend/graph.h"
#include "core/backend/pending.h"
#include "core/backend/stream.h"
#include "core/dtype/time_dtype.h"
#include "core/memory/transfer.h"
#include "core/plugin/find_device.h"
#include "core/resolve/weak_scalar.h"

namespace gufunc::memory {
namespace {

using array::Array;
using array::Layout;
using backend::Device;
using backend::Stream;

guf_status check_order(int32_t order, int32_t lowest, int32_t highest, guf_error *error) {
  if (order >= lowest && order <= highest) return GUF_OK;
  return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                    "order: expected a guf_order from %d to %d, got %d", lowest, highest, order);
}

guf_status check_writable(const Array &array, guf_error *error) {
  if ((array.flags() & GUF_ARRAY_READ_ONLY) != 0) {
    return base::fail(error, GUF_E_READ_ONLY, base::kNone, base::kNone,
                      "assignment destination is read-only");
  }
  return GUF_OK;
}

guf_status check_self_overlap(const Array &array, guf_error *error) {
  if (array::overlaps_itself(array.layout())) {
    return base::fail(error, GUF_E_OVERLAP, base::kNone, base::kNone,
                      "elements of the assignment destination overlap one another");
  }
  return GUF_OK;
}

guf_status check_casting(guf_dtype from, guf_dtype to, int32_t casting, guf_error *error) {
  if (casting < GUF_CASTING_DEFAULT || casting > GUF_CASTING_UNSAFE) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "casting is %d, which is not a guf_casting", casting);
  }
  const int32_t rule = casting == GUF_CASTING_DEFAULT ? GUF_CASTING_SAME_KIND : casting;
  if (dtype::can_cast(from, to, rule)) return dtype::check_cast(from, to, error);
  return base::fail(error, GUF_E_CASTING, base::kNone, base::kNone,
                    "Cannot cast array data from dtype('%s') to dtype('%s') according to the rule "
                    "'%s'",
                    dtype::name(from), dtype::name(to), dtype::casting_name(rule));
}

// Checks that `from` broadcasts to `to`. As in NumPy, leading axes of extent 1 are ignored.
guf_status check_broadcast(const Layout &from, const Layout &to, guf_error *error) {
  for (int32_t i = 0; i < from.ndim; ++i) {
    const int64_t extent = from.shape[from.ndim - 1 - i];
    const int32_t axis = to.ndim - 1 - i;
    if (extent == 1 || (axis >= 0 && to.shape[axis] == extent)) continue;
    base::Text source;
    base::Text expected;
    source.add_shape(from.shape, from.ndim);
    expected.add_shape(to.shape, to.ndim);
    return base::fail(error, GUF_E_SHAPE, base::kNone, axis < 0 ? base::kNone : axis,
                      "could not broadcast input array from shape %s into shape %s", source.c_str(),
                      expected.c_str());
  }
  return GUF_OK;
}

// Copies between arrays of compatible shapes, and keeps both alive until the stream has finished.
guf_status copy_elements(Array &to, Array &from, Stream *stream, guf_error *error) {
  Device *to_device = nullptr;
  Device *from_device = nullptr;
  GUF_TRY(device_of(to, &to_device, error));
  GUF_TRY(device_of(from, &from_device, error));
  GUF_TRY(check_stream(stream, *to_device, *from_device, error));
  backend::RetainedObjects retained(stream);
  retained.add(&to);
  retained.add(&from);
  return transfer(endpoint_of(to, *to_device), endpoint_of(from, *from_device), stream, error);
}

// Waits for queued work that uses the array, so that the host can read the array. Device memory is
// copied on the default stream, so the function then waits for work on other streams only.
guf_status wait_until_readable(Array &array, guf_error *error) {
  const bool host = array.device() == nullptr || array.device()->host_memory;
  return host ? synchronize(array, UINT64_MAX, error)
              : backend::wait_for_array(array, UINT64_MAX, error);
}

// Allocates an array on `device` with the shape of `array`, and copies the elements to it.
guf_status copy_into_new(Array &array, Device &device, guf_dtype dtype, int32_t order,
                         Stream *stream, base::Ref<Array> *out, guf_error *error) {
  GUF_TRY(backend::check_not_captured(stream, "a copy into a new array", error));
  int64_t strides[GUF_MAX_NDIM];
  const Layout &from = array.layout();
  GUF_TRY(array::strides_like(from, array::resolve_order(array, order), dtype, strides, error));
  base::Ref<Array> made;
  GUF_TRY(allocate(device, dtype, from.ndim, from.shape, strides, GUF_ORDER_C, &made, error));
  GUF_TRY(copy_elements(*made, array, stream, error));
  *out = std::move(made);
  return GUF_OK;
}

// Reads the dtype of a scalar operand, and copies its bits to `value`.
guf_status read_scalar(const guf_operand &operand, guf_dtype *out_dtype, uint64_t value[2],
                       guf_error *error) {
  std::memcpy(value, operand.value, sizeof operand.value);
  switch (operand.kind) {
    case GUF_OPERAND_SCALAR:
      *out_dtype = operand.dtype;
      break;
    case GUF_OPERAND_WEAK_INT:
      *out_dtype = GUF_I64;
      break;
    case GUF_OPERAND_WEAK_INT_HUGE:
      *out_dtype = GUF_U64;
      if (value[1] > 3) {
        return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                          "value->value[1] of a huge int has unknown bits");
      }
      break;
    case GUF_OPERAND_WEAK_FLOAT:
      *out_dtype = GUF_F64;
      break;
    case GUF_OPERAND_WEAK_COMPLEX:
      *out_dtype = GUF_C128;
      break;
    default:
      return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                        "value->kind: expected a scalar operand, got %d", operand.kind);
  }
  if (operand.flags != 0 || operand.reserved != 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "value->flags and value->reserved: expected 0, got 0x%x and %u",
                      operand.flags, operand.reserved);
  }
  if (!dtype::valid(*out_dtype)) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "value->dtype: expected a dtype, got 0x%08x", *out_dtype);
  }
  if (dtype::is_structured(*out_dtype)) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "value: expected a scalar of a simple dtype, got the structured dtype '%s'",
                      dtype::name(*out_dtype));
  }
  return GUF_OK;
}

// Converts a weak integer to the dtype of the array, as in calls. No conversion is needed for bool,
// where every integer except 0 is true.
guf_status convert_int(const guf_operand &operand, guf_dtype expected, guf_dtype *inout_dtype,
                       uint64_t value[2], guf_error *error) {
  const bool is_int =
      operand.kind == GUF_OPERAND_WEAK_INT || operand.kind == GUF_OPERAND_WEAK_INT_HUGE;
  if (!is_int || expected == GUF_BOOL) return GUF_OK;
  op::OperandView view = {};
  view.kind = operand.kind;
  std::memcpy(view.value, value, sizeof view.value);
  GUF_TRY(resolve::convert(&view, base::kNone, expected, error));
  std::memcpy(value, view.cast_value, sizeof view.cast_value);
  *inout_dtype = expected;
  return GUF_OK;
}

// Fills device memory. The element is passed to the device as part of the launch.
guf_status fill_far(Array &array, Device &device, const CopyOperand &scalar, Stream *stream,
                    guf_error *error) {
  Device *cpu = nullptr;
  GUF_TRY(plugin::cpu_device(&cpu, error));
  alignas(16) unsigned char element[16];
  const CopyOperand here = {
      {array.layout().dtype, 0, nullptr, nullptr, reinterpret_cast<uint64_t>(element)},
      false,
      true};
  GUF_TRY(convert(*cpu, nullptr, here, scalar, error));
  backend::RetainedObjects retained(stream);
  retained.add(&array);
  return convert(device, stream, endpoint_of(array, device).operand, here, error);
}

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

guf_status fill(Array &array, const guf_operand &value, Stream *stream, guf_error *error) {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  alignas(16) uint64_t bits[2];
  GUF_TRY(read_scalar(value, &dtype, bits, error));
  GUF_TRY(check_writable(array, error));
  GUF_TRY(check_casting(dtype, array.layout().dtype, GUF_CASTING_UNSAFE, error));
  GUF_TRY(convert_int(value, array.layout().dtype, &dtype, bits, error));
  Device *device = nullptr;
  Device *cpu = nullptr;
  GUF_TRY(device_of(array, &device, error));
  GUF_TRY(check_stream(stream, *device, *device, error));
  GUF_TRY(plugin::cpu_device(&cpu, error));
  const CopyOperand scalar_operand = {
      {dtype, 0, nullptr, nullptr, reinterpret_cast<uint64_t>(bits)}, false, true};
  if (stream == nullptr && device->host_memory)
    return convert(*device, nullptr, endpoint_of(array, *device).operand, scalar_operand, error);
  if (!device->host_memory) return fill_far(array, *device, scalar_operand, stream, error);
  // The scalar is copied, because queued work reads it after this function has returned.
  base::Ref<Array> scalar;
  GUF_TRY(allocate(*cpu, dtype, 0, nullptr, nullptr, GUF_ORDER_C, &scalar, error));
  std::memcpy(reinterpret_cast<void *>(scalar->layout().address), bits, dtype::itemsize(dtype));
  return copy_elements(array, *scalar, stream, error);
}

guf_status copy(Array &array, int32_t order, Stream *stream, base::Ref<Array> *out,
                guf_error *error) {
  GUF_TRY(check_order(order, GUF_ORDER_KEEP, GUF_ORDER_ANY, error));
  Device *device = nullptr;
  GUF_TRY(device_of(array, &device, error));
  return copy_into_new(array, *device, array.layout().dtype, order, stream, out, error);
}

guf_status assign(Array &destination, Array &source, int32_t casting, Stream *stream,
                  guf_error *error) {
  const Layout &to = destination.layout();
  GUF_TRY(check_writable(destination, error));
  GUF_TRY(check_casting(source.layout().dtype, to.dtype, casting, error));
  GUF_TRY(check_broadcast(source.layout(), to, error));
  GUF_TRY(check_self_overlap(destination, error));
  return copy_elements(destination, source, stream, error);
}

guf_status astype(Array &array, guf_dtype dtype, int32_t casting, int32_t order, Stream *stream,
                  base::Ref<Array> *out, guf_error *error) {
  GUF_TRY(check_order(order, GUF_ORDER_KEEP, GUF_ORDER_ANY, error));
  if (!dtype::valid(dtype)) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone, "0x%08x is not a dtype", dtype);
  }
  dtype = dtype::resolve_unit(dtype, array.layout().dtype);
  GUF_TRY(check_casting(array.layout().dtype, dtype, casting, error));
  Device *device = nullptr;
  GUF_TRY(device_of(array, &device, error));
  return copy_into_new(array, *device, dtype, order, stream, out, error);
}

guf_status to_device(Array &array, Device &device, Stream *stream, base::Ref<Array> *inout,
                     guf_error *error) {
  if (stream == nullptr && device.host_memory) GUF_TRY(wait_until_readable(array, error));
  if (!*inout) {
    return copy_into_new(array, device, array.layout().dtype, GUF_ORDER_KEEP, stream, inout, error);
  }
  Array &to = **inout;
  const Layout &from = array.layout();
  if (to.layout().dtype != from.dtype) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "the given array's dtype differs: expected %s, got %s",
                      dtype::name(from.dtype), dtype::name(to.layout().dtype));
  }
  if (to.layout().ndim != from.ndim ||
      !std::equal(from.shape, from.shape + from.ndim, to.layout().shape)) {
    base::Text found;
    base::Text expected;
    found.add_shape(to.layout().shape, to.layout().ndim);
    expected.add_shape(from.shape, from.ndim);
    return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                      "the given array's shape differs: expected %s, got %s", expected.c_str(),
                      found.c_str());
  }
  Device *home = nullptr;
  GUF_TRY(device_of(to, &home, error));
  if (home != &device) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, base::kNone, base::kNone,
                      "the given array is on another device: expected %s, got %s",
                      device.spec.c_str(), home->spec.c_str());
  }
  GUF_TRY(check_writable(to, error));
  GUF_TRY(check_self_overlap(to, error));
  return copy_elements(to, array, stream, error);
}

guf_status copy_to_host(Array &array, void *destination, uint64_t nbytes, int32_t order,
                        Stream *stream, guf_error *error) {
  GUF_TRY(check_order(order, GUF_ORDER_C, GUF_ORDER_F, error));
  if (nbytes < array.nbytes()) {
    return base::fail(error, GUF_E_BUFFER_TOO_SMALL, base::kNone, base::kNone,
                      "the destination is too small; expected %llu bytes, got %llu",
                      static_cast<unsigned long long>(array.nbytes()),
                      static_cast<unsigned long long>(nbytes));
  }
  Device *device = nullptr;
  Device *cpu = nullptr;
  GUF_TRY(device_of(array, &device, error));
  GUF_TRY(plugin::cpu_device(&cpu, error));
  GUF_TRY(check_stream(stream, *device, *device, error));
  if (array.nbytes() == 0) return GUF_OK;
  if (destination == nullptr) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "destination is NULL, but there are %llu bytes to copy",
                      static_cast<unsigned long long>(array.nbytes()));
  }
  if (stream == nullptr) GUF_TRY(wait_until_readable(array, error));
  int64_t strides[GUF_MAX_NDIM];
  Layout to = array.layout();
  array::contiguous_strides(to.dtype, to.ndim, to.shape, order, strides);
  to.strides = strides;
  to.address = reinterpret_cast<uint64_t>(destination);
  backend::RetainedObjects retained(stream);
  retained.add(&array);
  return transfer({{to, false}, cpu}, endpoint_of(array, *device), stream, error);
}

guf_status synchronize(Array &array, uint64_t timeout_ns, guf_error *error) {
  GUF_TRY(backend::wait_for_array(array, timeout_ns, error));
  Device *device = array.device();
  if (device == nullptr || device->host_memory) device = array.storage()->reader();
  if (device == nullptr) return GUF_OK;
  // guf_device_synchronize reports a failure on the default stream; this function does not.
  base::Ref<Stream> default_stream;
  GUF_TRY(backend::open_default(*device, &default_stream, error));
  return backend::wait_for_stream(*default_stream, timeout_ns);
}

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
