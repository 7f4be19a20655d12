// SPDX-License-Identifier: Apache-2.0
// Tests host memory for devices: page-locked, mapped and managed arrays, which a device uses in
// place or copies, and registered memory of the program. On the cpu, each of these is ordinary
// memory.
#include <cstring>
#include <numeric>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr int32_t kKinds[] = {GUF_HOST_PINNED, GUF_HOST_MAPPED, GUF_HOST_MANAGED};

class HostMemory : public Devices {
 protected:
  guf_array make(int32_t kind, std::vector<int64_t> shape) {
    guf_array made = nullptr;
    EXPECT_EQ(guf_array_alloc_host(device_, kind, GUF_F32, static_cast<int32_t>(shape.size()),
                                   shape.data(), nullptr, GUF_ORDER_C, &made, &error_),
              GUF_OK)
        << error_.message;
    return keep(made);
  }
  // Returns the host address of the elements.
  float *elements(guf_array array) {
    guf_array_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(guf_array_get_info(array, &info, &error_), GUF_OK);
    return reinterpret_cast<float *>(info.address);
  }
  guf_status alloc(guf_device device, int32_t memory, guf_dtype dtype, int32_t ndim,
                   const int64_t *shape, const int64_t *strides, int32_t order, guf_array *out) {
    return guf_array_alloc_host(device, memory, dtype, ndim, shape, strides, order, out, &error_);
  }

  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_);
};

TEST_P(HostMemory, IsTheHosts) {
  for (const int32_t kind : kKinds) {
    const guf_array array = make(kind, {3, 4});
    guf_array_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(guf_array_get_info(array, &info, &error_), GUF_OK);
    guf_device cpu = nullptr;
    EXPECT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error_), GUF_OK);
    EXPECT_EQ(info.device, cpu);
    EXPECT_EQ(info.nbytes, 48U);
    for (int i = 0; i < 12; ++i) elements(array)[i] = static_cast<float>(i);
    EXPECT_EQ(values(array)[11], 11.0F);
    // A call that names no device runs on the cpu.
    const guf_operand both = operand_of(array);
    EXPECT_EQ(call("add", {both, both}, both, nullptr), GUF_OK) << error_.message;
    EXPECT_EQ(elements(array)[11], 22.0F);
  }
}

// The device uses mapped and managed arrays in place, and copies pinned arrays.
TEST_P(HostMemory, IsUsedInPlace) {
  if (on_cpu()) return;
  const guf_array device_side = filled(device_, 100, 2);
  for (const int32_t kind : {GUF_HOST_MAPPED, GUF_HOST_MANAGED}) {
    const guf_array in = make(kind, {100}), out = make(kind, {100});
    std::fill_n(elements(in), 100, 3.0F);
    const bool cuda = backend_ == "cuda";
    const auto copies = [&] {
      return sim().calls(cuda ? "cuMemcpyHtoDAsync_v2" : "hipMemcpyHtoDAsync") +
             sim().calls(cuda ? "cuMemcpyDtoHAsync_v2" : "hipMemcpyDtoHAsync");
    };
    EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK);
    const uint64_t before = copies();
    EXPECT_EQ(call("multiply", {operand_of(in), operand_of(device_side)}, operand_of(out), stream_),
              GUF_OK)
        << error_.message;
    EXPECT_EQ(reduce("add", operand_of(out), {}, stream_), GUF_OK) << error_.message;
    EXPECT_EQ(copies(), before);
    synchronize(stream_);
    for (int i = 0; i < 100; ++i) ASSERT_EQ(elements(out)[i], 6.0F) << i;
  }
  const guf_array pinned = make(GUF_HOST_PINNED, {100}), out = make(GUF_HOST_PINNED, {100});
  std::fill_n(elements(pinned), 100, 5.0F);
  EXPECT_EQ(call("add", {operand_of(pinned), operand_of(device_side)}, operand_of(out), stream_),
            GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(call("add", {operand_of(pinned), scalar_of(2)}, operand_of(out), stream_), GUF_OK)
      << error_.message;
  for (int i = 0; i < 100; ++i) ASSERT_EQ(elements(out)[i], 7.0F) << i;  // the call is complete
}

// A second device does not use mapped memory of the first device in place. The second device treats
// this memory as ordinary host memory.
TEST_P(HostMemory, IsOfItsDevice) {
  NEEDS_TWO_DEVICES();
  if (on_cpu()) return;
  const guf_array mapped = make(GUF_HOST_MAPPED, {10}), far = filled(device(1), 10, 1);
  std::fill_n(elements(mapped), 10, 1.0F);
  EXPECT_EQ(call("add", {operand_of(mapped), operand_of(far)}, operand_of(far), nullptr),
            GUF_E_DEVICE_MISMATCH);
}

// A copy on a stream does not block the caller, and keeps the array alive.
TEST_P(HostMemory, PinnedCopiesAreQueued) {
  if (on_cpu()) return;
  const guf_array pinned = make(GUF_HOST_PINNED, {1000}), there = filled(device_, 1000, 0);
  std::fill_n(elements(pinned), 1000, 8.0F);
  {
    Gate gate(backend_, stream_);
    EXPECT_EQ(guf_array_assign(there, pinned, 0, stream_, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_array_assign(pinned, there, 0, stream_, &error_), GUF_OK) << error_.message;
    if (sim_order() == "eager") {
      EXPECT_EQ(guf_stream_query(stream_, &error_), GUF_NOT_READY);
    }
  }
  synchronize(stream_);
  EXPECT_THAT(values(there), Each(8.0F));
}

// The same managed memory is wrapped as a host array and as a device array, which overlap.
TEST_P(HostMemory, CopiesWithinManagedMemory) {
  const guf_array managed = make(GUF_HOST_MANAGED, {101});
  float *const first = elements(managed);
  const auto wrap = [&](guf_device device, const float *begin) {
    gufunc::Operands operands;
    const gufunc::View view = {GUF_F32, begin, {100}, {}, 0, device};
    guf_array wrapped = nullptr;
    EXPECT_EQ(guf_array_wrap(operands.tensor(view)->tensor, nullptr, nullptr, 0, &wrapped, &error_),
              GUF_OK)
        << error_.message;
    return keep(wrapped);
  };
  for (const bool to_device : {true, false}) {
    std::iota(first, first + 101, 0.0F);
    const guf_array from = wrap(to_device ? nullptr : device_, first);
    const guf_array to = wrap(to_device ? device_ : nullptr, first + 1);
    ASSERT_EQ(guf_array_assign(to, from, 0, nullptr, &error_), GUF_OK) << error_.message;
    ASSERT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK);
    EXPECT_EQ(first[0], 0.0F);
    for (int i = 0; i < 100; ++i) ASSERT_EQ(first[i + 1], static_cast<float>(i)) << i;
  }
}

TEST_P(HostMemory, AllocationErrors) {
  NEEDS_SIM();
  const int64_t shape[] = {2, 3}, huge[] = {INT64_MAX / 2, 8}, negative[] = {-1, 3};
  const int64_t overlapping[] = {0, 0};
  guf_array out = nullptr;
  EXPECT_EQ(alloc(device_, 0, GUF_F32, 2, shape, nullptr, GUF_ORDER_C, &out), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("memory is 0, which is not a guf_host_memory"));
  EXPECT_EQ(alloc(device_, 4, GUF_F32, 2, shape, nullptr, GUF_ORDER_C, &out), GUF_E_ARG);
  EXPECT_EQ(alloc(device_, 1, GUF_F32, 2, shape, nullptr, GUF_ORDER_C, nullptr), GUF_E_ARG);
  EXPECT_EQ(alloc(device_, 1, GUF_F32, 2, nullptr, nullptr, GUF_ORDER_C, &out), GUF_E_ARG);
  EXPECT_EQ(alloc(device_, 1, GUF_F32, 2, shape, nullptr, 9, &out), GUF_E_ARG);
  EXPECT_EQ(alloc(device_, 1, GUF_F32, 2, shape, shape, GUF_ORDER_F, &out), GUF_E_ARG);
  EXPECT_EQ(alloc(nullptr, 1, GUF_F32, 2, shape, nullptr, GUF_ORDER_C, &out), GUF_E_HANDLE);
  EXPECT_EQ(alloc(device_, 1, 77, 2, shape, nullptr, GUF_ORDER_C, &out), GUF_E_DTYPE);
  EXPECT_EQ(alloc(device_, 1, GUF_F32, 65, shape, nullptr, GUF_ORDER_C, &out), GUF_E_SHAPE);
  EXPECT_EQ(alloc(device_, 1, GUF_F32, 2, huge, nullptr, GUF_ORDER_C, &out), GUF_E_SHAPE);
  EXPECT_EQ(alloc(device_, 1, GUF_F32, 2, negative, nullptr, GUF_ORDER_C, &out), GUF_E_SHAPE);
  EXPECT_EQ(alloc(device_, 1, GUF_F32, 2, shape, overlapping, GUF_ORDER_C, &out), GUF_E_SHAPE);
  EXPECT_EQ(out, nullptr);
  if (on_cpu()) return;
  const bool cuda = backend_ == "cuda";
  sim().fault(cuda ? "cuMemHostAlloc:0:2" : "hipHostMalloc:0:2");
  const int64_t large[] = {3000000};  // larger than any cached block
  EXPECT_EQ(alloc(device_, GUF_HOST_PINNED, GUF_F32, 1, large, nullptr, GUF_ORDER_C, &out),
            GUF_E_NO_MEMORY)
      << error_.message;
  sim().clear_faults();
  EXPECT_EQ(out, nullptr);
}

TEST_P(HostMemory, IsRegistered) {
  NEEDS_SIM();
  std::vector<float> memory(5000, 3);
  const auto address = reinterpret_cast<uint64_t>(memory.data());
  const uint64_t bytes = 4 * memory.size();
  ASSERT_EQ(guf_host_register(device_, address, bytes, &error_), GUF_OK) << error_.message;
  if (!on_cpu()) {
    const uint64_t live = sim().live("registered");
    for (const auto &[first, size] : {std::pair{address, bytes},
                                      {address + 64, uint64_t{64}},
                                      {address - 64, bytes},
                                      {address + bytes - 1, uint64_t{64}},
                                      {address - 64, bytes + 128}}) {
      EXPECT_EQ(guf_host_register(device_, first, size, &error_), GUF_E_EXISTS) << error_.message;
      EXPECT_THAT(error_.message, HasSubstr("registered with " + backend_ + ":0"));
      EXPECT_EQ(guf_host_unregister(device_, first + (first == address), &error_), GUF_E_ARG);
      EXPECT_THAT(error_.message, HasSubstr("no memory that is registered with"));
    }
    EXPECT_EQ(sim().live("registered"), live) << "repeated requests register nothing";
    // A copy from pinned memory is queued without staging, so it reads the content when it runs.
    const int64_t size = 5000;
    const guf_tensor tensor = {sizeof tensor, GUF_F32, 1, 0, address, &size, nullptr, nullptr};
    guf_array wrapped = nullptr;
    ASSERT_EQ(guf_array_wrap(&tensor, nullptr, nullptr, 0, &wrapped, &error_), GUF_OK);
    keep(wrapped);
    const guf_array there = filled(device_, 5000, 0);
    EXPECT_EQ(guf_array_assign(there, wrapped, 0, stream_, &error_), GUF_OK) << error_.message;
    synchronize(stream_);
    EXPECT_THAT(values(there), Each(3.0F));
  }
  EXPECT_EQ(guf_host_register(device_, UINT64_MAX - 4095, 4097, &error_), GUF_E_ARG);
  EXPECT_THAT(error_.message, testing::StartsWith("size: got 4097 bytes at 0xfffffffffffff000"));
  EXPECT_EQ(guf_host_unregister(device_, address, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_host_unregister(device_, address, &error_), on_cpu() ? GUF_OK : GUF_E_ARG)
      << error_.message;
  EXPECT_EQ(guf_host_register(device_, 0, bytes, &error_), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("address is 0"));
  EXPECT_EQ(guf_host_register(device_, address, 0, &error_), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("size is 0"));
  EXPECT_EQ(guf_host_unregister(device_, 0, &error_), GUF_E_ARG);
  EXPECT_EQ(guf_host_register(nullptr, address, bytes, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_host_unregister(nullptr, address, &error_), GUF_E_HANDLE);
  const auto no_device = reinterpret_cast<guf_device>(stream_);
  EXPECT_EQ(guf_host_register(no_device, address, bytes, &error_), GUF_E_HANDLE);
  if (on_cpu()) return;
  const bool cuda = backend_ == "cuda";
  sim().fault(cuda ? "cuMemHostRegister_v2:1:2" : "hipHostRegister:1:2");
  EXPECT_EQ(guf_host_register(device_, address, bytes, &error_), GUF_E_NO_MEMORY) << error_.message;
  sim().clear_faults();
  sim().fault(cuda ? "cuMemHostRegister_v2:1:801" : "hipHostRegister:1:801");
  EXPECT_EQ(guf_host_register(device_, address, bytes, &error_), GUF_E_UNSUPPORTED)
      << error_.message;
  sim().clear_faults();
}

// A range that is only partly page-locked is copied like ordinary memory, whichever part is
// page-locked.
TEST_P(HostMemory, IsRegisteredInPart) {
  NEEDS_SIM();
  constexpr int64_t kSize = 6000, kPart = 1024;
  std::vector<float> memory(kSize), back(kSize);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i % 999);
  const guf_array there = filled(device_, kSize, 0);
  const auto register_part = [&](std::vector<float> &all, int64_t first) {
    const auto address = reinterpret_cast<uint64_t>(all.data() + first);
    EXPECT_EQ(guf_host_register(device_, address, 4 * kPart, &error_), GUF_OK) << error_.message;
    return address;
  };
  const std::vector<std::vector<int64_t>> places = {
      {0}, {2000}, {kSize - kPart}, {0, kSize - kPart}};
  for (const std::vector<int64_t> &parts : places) {
    SCOPED_TRACE(parts.front());
    std::vector<uint64_t> registered;
    for (const int64_t part : parts) {
      registered.push_back(register_part(memory, part));
      registered.push_back(register_part(back, part));
    }
    for (const guf_stream on : {stream_, guf_stream{}}) {
      guf_array in = nullptr, out = nullptr;
      for (auto &[all, wrapped] : {std::pair(&memory, &in), std::pair(&back, &out)}) {
        gufunc::Operands operands;
        const guf_tensor *const tensor = operands.tensor(gufunc::view(GUF_F32, *all))->tensor;
        ASSERT_EQ(guf_array_wrap(tensor, nullptr, nullptr, 0, wrapped, &error_), GUF_OK);
        keep(*wrapped);
      }
      std::fill(back.begin(), back.end(), 0.0F);
      EXPECT_EQ(guf_array_assign(there, in, 0, on, &error_), GUF_OK) << error_.message;
      EXPECT_EQ(guf_array_assign(out, there, 0, on, &error_), GUF_OK) << error_.message;
      if (on != nullptr) synchronize(on);
      EXPECT_EQ(back, memory);
    }
    for (const uint64_t address : registered) {
      EXPECT_EQ(guf_host_unregister(device_, address, &error_), GUF_OK) << error_.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, HostMemory, testing::Values("cuda", "roc", "cpu"), name_of);

}  // namespace
}  // namespace device_test
