// SPDX-License-Identifier: Apache-2.0
// Applies a chain of views, copies, casts and text conversions to an array in guarded memory. The
// target reads every returned view completely, so that an access outside the base array faults.
#include <gufunc/dlpack.h>

#include <utility>
#include <vector>

#include "drawn_operand.h"
#include "target.h"

namespace gufunc::fuzz {
namespace {

constexpr int32_t kMaxArguments = 8;

class Chain {
 public:
  explicit Chain(ByteReader *bytes) : bytes_(bytes) {}
  ~Chain() { guf_array_release(array_, nullptr); }
  Chain(const Chain &) = delete;
  Chain &operator=(const Chain &) = delete;

  void start();
  void step();
  bool has_array() const { return array_ != nullptr; }

 private:
  int32_t draw_numbers(int64_t *numbers);
  guf_status make_view(guf_array *view, guf_error *error);
  guf_status make_copy(guf_array *copy, guf_error *error);
  guf_status change(guf_error *error);
  void read_all();

  ByteReader *bytes_;
  guf_array array_ = nullptr;
};

void Chain::start() {
  static DrawnOperand source;
  const DrawnShape shape = DrawnShape::draw(bytes_);
  const guf_dtype dtype = draw_dtype(bytes_);
  guf_error error = fresh_error();
  if (bytes_->one_in(4)) {
    if (shape.items(kMaxItems) > kMaxItems) return;
    int64_t strides[GUF_MAX_NDIM];
    for (int64_t &stride : strides) stride = static_cast<int8_t>(bytes_->byte());
    demand_report(guf_array_alloc(nullptr, dtype, shape.ndim, shape.extent.data(),
                                  bytes_->one_in(2) ? strides : nullptr,
                                  static_cast<int32_t>(bytes_->below(4)), &array_, &error),
                  error);
    return;
  }
  source.draw_exact(bytes_, shape, dtype);
  if (!source.can_run()) return;
  demand_report(guf_array_wrap(source.operand().tensor, nullptr, nullptr, 0, &array_, &error),
                error);
}

// Draws the arguments of a view. Most of the numbers are small. Some of the others are so large
// that arithmetic on them overflows.
int32_t Chain::draw_numbers(int64_t *numbers) {
  constexpr int64_t kLarge[] = {INT64_MAX, INT64_MIN, INT64_MIN + 1, int64_t{1} << 32};
  const auto count = static_cast<int32_t>(bytes_->below(kMaxArguments + 1));
  for (int32_t i = 0; i < kMaxArguments; ++i) {
    const auto small = static_cast<int8_t>(bytes_->byte());
    numbers[i] = small == 127 ? bytes_->pick(kLarge) : small % 7;
  }
  return count;
}

guf_status Chain::make_view(guf_array *view, guf_error *error) {
  int64_t a[kMaxArguments], b[kMaxArguments], c[kMaxArguments];
  const int32_t count = draw_numbers(a);
  switch (bytes_->below(8)) {
    case 0:
      draw_numbers(b);
      draw_numbers(c);
      return guf_array_slice(array_, count, a, b, c, view, error);
    case 1:
      return guf_array_reshape(array_, count, a, static_cast<int32_t>(bytes_->below(5)), view,
                               error);
    case 2:
      return guf_array_ravel(array_, static_cast<int32_t>(bytes_->below(5)), view, error);
    case 3:
      return guf_array_transpose(array_, count, bytes_->one_in(4) ? nullptr : a, view, error);
    case 4:
      return guf_array_broadcast_to(array_, count, a, view, error);
    case 5:
      return guf_array_squeeze(array_, count, bytes_->one_in(4) ? nullptr : a, view, error);
    case 6:
      return guf_array_expand_dims(array_, count, a, view, error);
    default:
      draw_numbers(b);
      return guf_array_sliding_window(array_, count, a, b, view, error);
  }
}

guf_status Chain::make_copy(guf_array *copy, guf_error *error) {
  const auto order = static_cast<int32_t>(bytes_->below(5));
  switch (bytes_->below(3)) {
    case 0:
      return guf_array_copy(array_, order, nullptr, copy, error);
    case 1:
      return guf_array_astype(array_, draw_dtype(bytes_), static_cast<int32_t>(bytes_->below(7)),
                              order, nullptr, copy, error);
    default: {
      guf_dlpack *managed = nullptr;
      const guf_status exported = guf_array_to_dlpack(array_, nullptr, 0, &managed, error);
      if (exported != GUF_OK) return exported;
      const guf_status imported = guf_array_from_dlpack(managed, nullptr, 0, copy, error);
      if (imported != GUF_OK) managed->deleter(managed);
      return imported;
    }
  }
}

guf_status Chain::change(guf_error *error) {
  guf_operand value = {};
  value.kind = GUF_OPERAND_WEAK_INT;
  value.value[0] = bytes_->byte();
  if (bytes_->one_in(2)) return guf_array_fill(array_, &value, nullptr, error);
  guf_array view = nullptr;
  guf_status status = make_view(&view, error);
  if (status == GUF_OK) {
    status = guf_array_assign(array_, view, static_cast<int32_t>(bytes_->below(7)), nullptr, error);
  }
  guf_array_release(view, nullptr);
  return status;
}

void Chain::read_all() {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  check(guf_array_get_info(array_, &info, nullptr) == GUF_OK, "guf_array_get_info");
  uint64_t length = 0;
  guf_error error = fresh_error();
  demand_report(guf_array_print(array_, nullptr, &length, &error), error);
  if (info.nbytes > GuardedMemory::kBytes) return;
  std::vector<unsigned char> elements(info.nbytes + 1);
  error = fresh_error();
  demand_report(
      guf_array_copy_to_host(array_, elements.data(), info.nbytes, GUF_ORDER_C, nullptr, &error),
      error);
}

void Chain::step() {
  guf_array next = nullptr;
  guf_error error = fresh_error();
  const uint32_t how = bytes_->below(8);
  guf_array_info info = {};
  info.struct_size = sizeof info;
  check(guf_array_get_info(array_, &info, nullptr) == GUF_OK, "guf_array_get_info");
  const bool large = info.nbytes > GuardedMemory::kBytes;
  if (large || how < 5) {
    demand_report(make_view(&next, &error), error);
  } else if (how < 7) {
    demand_report(make_copy(&next, &error), error);
  } else {
    demand_report(change(&error), error);
  }
  if (next == nullptr) return;
  guf_array_release(std::exchange(array_, next), nullptr);
  read_all();
}

}  // namespace
}  // namespace gufunc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gufunc::fuzz::ByteReader bytes(data, size);
  gufunc::fuzz::Chain chain(&bytes);
  chain.start();
  for (int steps = 0; steps < 8 && chain.has_array() && !bytes.at_end(); ++steps) chain.step();
  return 0;
}
