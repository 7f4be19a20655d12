// SPDX-License-Identifier: Apache-2.0
// Provides device entries as functions of a work-item. Include this header only in files that are
// compiled with GUF_EMULATE.
#ifndef GUFUNC_TESTS_UNIT_GPU_HOST_ENTRY_H
#define GUFUNC_TESTS_UNIT_GPU_HOST_ENTRY_H

#include <gufunc/kernel.hpp>

#include "tests/unit/gpu/host_sink.h"

namespace gufunc::gpu {

template <class Block, void (*kMethod)(const Block &)>
HostEntry plain_entry(uint32_t max_threads) {
  const auto run = [](guf::device::work_item *item, const void *block) {
    guf::device::current_item = item;
    kMethod(*static_cast<const Block *>(block));
  };
  return {run, sizeof(Block), max_threads, false};
}

// Makes a HostEntry for a device entry that uses shared memory and barriers.
template <class Block, void (*kMethod)(const Block &, char *)>
HostEntry shared_entry(uint32_t max_threads) {
  const auto run = [](guf::device::work_item *item, const void *block) {
    guf::device::current_item = item;
    kMethod(*static_cast<const Block *>(block), item->shared);
  };
  return {run, sizeof(Block), max_threads, true};
}

}  // namespace gufunc::gpu

#endif  // GUFUNC_TESTS_UNIT_GPU_HOST_ENTRY_H
