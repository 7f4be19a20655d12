// SPDX-License-Identifier: Apache-2.0
// The emulation file of the test images, written by hand in the format that gufcc generates.
#include <sha256.h>
#include <algorithm>
#include <gufunc/kernel/work_item.hpp>

#include "tests/sim/cases/test_kernels.h"

namespace {

using guf::u32;
using guf::device::emulated_image;
using guf::device::emulated_kernel;
using guf::device::emulation_table;
using guf::device::work_item;
using sim_test::TestBlock;

u32 index_of(const work_item *item) {
  return item->block[0] * item->threads[0] + item->thread[0];
}

void add(work_item *item, const void *arguments) {
  const TestBlock &p = *static_cast<const TestBlock *>(arguments);
  const u32 i = index_of(item);
  if (i >= p.n) return;
  reinterpret_cast<float *>(p.out)[i] =
      reinterpret_cast<const float *>(p.a)[i] + reinterpret_cast<const float *>(p.b)[i];
}

void sum(work_item *item, const void *arguments) {
  const TestBlock &p = *static_cast<const TestBlock *>(arguments);
  auto *part = reinterpret_cast<float *>(item->shared);
  const u32 i = item->thread[0];
  part[i] = index_of(item) < p.n ? reinterpret_cast<const float *>(p.a)[index_of(item)] : 0;
  for (u32 half = item->threads[0] / 2; half != 0; half /= 2) {
    item->sync(item);
    if (i < half) part[i] += part[i + half];
  }
  item->sync(item);
  if (i == 0) reinterpret_cast<float *>(p.out)[item->block[0]] = part[0];
}

void missed(work_item *item, const void *) {
  if (item->thread[0] != 0) item->sync(item);
}

void order(work_item *item, const void *arguments) {
  const TestBlock &p = *static_cast<const TestBlock *>(arguments);
  *reinterpret_cast<u32 *>(p.out) = index_of(item);
}

constexpr emulated_kernel kKernels[] = {
    {"sim_add", add, sizeof(TestBlock), 256, 0, 0},
    {"sim_missed", missed, sizeof(TestBlock), 1024, 1, 0},
    {"sim_order", order, sizeof(TestBlock), 1024, 0, 0},
    {"sim_other", order, sizeof(TestBlock), 256, 0, 0},
    {"sim_sum", sum, sizeof(TestBlock), 1024, 1, 0},
};

emulated_image listed[8];

emulation_table make_table() {
  u32 count = 0;
  for (const std::string &image : sim_test::listed_images()) {
    emulated_image &one = listed[count++];
    one.target = "test";
    one.size = image.size();
    SHA2_CTX state;
    SHA256Init(&state);
    SHA256Update(&state, reinterpret_cast<const uint8_t *>(image.data()), image.size());
    SHA256Final(one.sha256, &state);
  }
  return {sizeof(emulation_table), std::size(kKernels), count, 0, kKernels, listed};
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) emulation_table gufunc_emulation_v1 = make_table();
}
