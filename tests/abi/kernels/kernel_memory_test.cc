// SPDX-License-Identifier: Apache-2.0
// Tests that a repeated launch allocates no memory, whatever its arguments are.
#include <atomic>
#include <cstdlib>
#include <new>

#include "kernel_fixture.h"

namespace {

std::atomic<uint64_t> allocations{0};

void *allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  void *place = nullptr;
  const int failed = posix_memalign(&place, alignment < 16 ? 16 : alignment, size == 0 ? 1 : size);
  return failed == 0 ? place : nullptr;
}

void *allocate_or_throw(std::size_t size, std::size_t alignment) {
  void *const place = allocate(size, alignment);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

}  // namespace

void *operator new(std::size_t size) {
  return allocate_or_throw(size, 16);
}
void *operator new[](std::size_t size) {
  return allocate_or_throw(size, 16);
}
void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
  return allocate(size, 16);
}
void *operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void *operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void *place) noexcept {
  std::free(place);
}
void operator delete[](void *place) noexcept {
  std::free(place);
}
void operator delete(void *place, std::size_t) noexcept {
  std::free(place);
}
void operator delete[](void *place, std::size_t) noexcept {
  std::free(place);
}
void operator delete(void *place, std::align_val_t) noexcept {
  std::free(place);
}
void operator delete(void *place, std::size_t, std::align_val_t) noexcept {
  std::free(place);
}

namespace {

using gufunc::operand_of;
using gufunc::scalar_of;
using gufunc::weak_int_of;

TEST_F(KernelTest, LaunchesAllocateNothing) {
  const guf_array out = put(std::vector<double>(19, 0)), in = put(std::vector<double>(64, 1));
  std::vector<guf_operand> many(18, weak_int_of(1));
  many[0] = operand_of(out);
  many[1] = scalar_of(GUF_BOOL, 1);
  many[16] = scalar_of(GUF_DATETIME64, 1);
  many[17] = scalar_of(GUF_TIMEDELTA64, 1);
  const guf_operand sums[] = {operand_of(in), operand_of(out), weak_int_of(64)};
  const guf_kernel numbers = find("numbers"), together = find("sums");
  const uint32_t one[] = {1, 1, 1}, threads[] = {64, 1, 1};
  const auto launch_both = [&] {
    expect(guf_kernel_launch(numbers, nullptr, one, one, 0, 18, many.data(), &error_));
    expect(guf_kernel_launch(together, nullptr, one, threads, 512, 3, sums, &error_));
  };
  launch_both();
  const uint64_t before = allocations;
  for (int i = 0; i < 100; ++i) launch_both();
  EXPECT_EQ(allocations - before, 0u);
  EXPECT_GT(before, 0u);
}

}  // namespace
