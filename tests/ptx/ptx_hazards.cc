// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_hazards.h"

#include "tests/ptx/ptx_types.h"

namespace ptx {

void Hazards::start_block(uint64_t bytes) {
  bytes_.resize(bytes);
  ++phase_;
}

bool Hazards::conflict(const Access &earlier, const Access &access) const {
  if (earlier.phase != phase_ || earlier.thread == access.thread) return false;
  if (earlier.is_strong && access.is_strong) return false;
  const bool same_warp = earlier.thread / kWarpSize == access.thread / kWarpSize;
  return !same_warp || earlier.syncs == access.syncs;
}

const Hazards::Access *Hazards::record_byte(Byte &byte, const Access &access, bool writes) {
  // Lanes that execute one store to the same address are allowed. One of them succeeds.
  const bool same_store = writes && byte.writer.line == access.line &&
                          byte.writer.thread / kWarpSize == access.thread / kWarpSize;
  const Access *found = nullptr;
  if (!same_store && conflict(byte.writer, access)) found = &byte.writer;
  if (writes && conflict(byte.reader, access)) found = &byte.reader;
  if (writes && conflict(byte.other_reader, access)) found = &byte.other_reader;
  if (found != nullptr) {
    found_ = *found;
    return &found_;
  }
  if (writes) {
    byte.writer = access;
  } else if (byte.reader.thread != access.thread || byte.reader.phase != phase_) {
    byte.other_reader = byte.reader;
    byte.reader = access;
  } else {
    byte.reader = access;
  }
  return nullptr;
}

const Hazards::Access *Hazards::record(uint64_t address, uint64_t bytes, Access access,
                                       bool writes) {
  access.phase = phase_;
  for (uint64_t i = 0; i < bytes; ++i) {
    const Access *const found = record_byte(bytes_[address + i], access, writes);
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace ptx
