// SPDX-License-Identifier: Apache-2.0
// Tests DLPack import and export in gufunc.hpp, with a producer that counts calls of its deleter.
#include <gtest/gtest.h>
#include <gufunc/gufunc.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace {

using gufunc::Array;
using gufunc::DlpackStream;
using gufunc::DlpackTensor;
using Doubles = gufunc::TypedArray<double>;
using Values = std::vector<double>;

// A tensor that another library exports as the struct `Managed`. The memory belongs to an array.
template <class Managed>
struct Producer {
  Array memory;
  std::shared_ptr<std::atomic<int>> deleted;
  std::vector<int64_t> shape, strides;
  Managed managed = {};

  Producer(const Array &described, std::shared_ptr<std::atomic<int>> count)
      : memory(described), deleted(std::move(count)) {
    const guf_array_info info = memory.info();
    shape.assign(info.shape, info.shape + info.ndim);
    for (int32_t k = 0; k < info.ndim; ++k) strides.push_back(info.strides[k] / 8);
    managed.manager_context = this;
    managed.deleter = [](Managed *self) {
      std::unique_ptr<Producer> owner(static_cast<Producer *>(self->manager_context));
      ++*owner->deleted;
    };
    int32_t type = GUF_DLPACK_CPU, index = 0;
    if (info.device != nullptr) {
      const guf_device_info place = gufunc::Device(info.device).info();
      index = static_cast<int32_t>(place.index);
      if (std::string(place.backend) == "cuda") type = GUF_DLPACK_CUDA;
      if (std::string(place.backend) == "roc") type = GUF_DLPACK_ROC;
    }
    managed.tensor = {reinterpret_cast<void *>(info.address),
                      type,
                      index,
                      info.ndim,
                      info.dtype,
                      shape.data(),
                      strides.data(),
                      0};
  }
};

class Given {
 public:
  DlpackTensor versioned(const Array &array, uint64_t flags = 0) const {
    auto *const made = new Producer<guf_dlpack>(array, deleted_);
    made->managed.major = 1;
    made->managed.minor = 3;
    made->managed.flags = flags;
    return DlpackTensor(&made->managed);
  }
  DlpackTensor unversioned(const Array &array) const {
    return DlpackTensor(&(new Producer<guf_dlpack_unversioned>(array, deleted_))->managed);
  }
  // Returns how many tensors were deleted. Waits until `expected` tensors were deleted, because a
  // device reports completion late.
  int deleted(int expected = 0) const {
    for (int k = 0; k < 5000 && *deleted_ < expected; ++k) {
      gufunc::poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(k == 0 ? 0 : 1));
    }
    return *deleted_;
  }

 private:
  std::shared_ptr<std::atomic<int>> deleted_ = std::make_shared<std::atomic<int>>(0);
};

std::vector<gufunc::Device> devices() {
  std::vector<gufunc::Device> found{gufunc::Device("cpu")};
  for (const char *spec : {"cuda:0", "roc:0"}) {
    try {
      found.emplace_back(spec);
    } catch (const gufunc::Error &) {  // there is no such device, not even a simulated one
    }
  }
  return found;
}

Doubles filled(gufunc::Device device, const Values &values, const gufunc::Ints &shape) {
  const Doubles there = Doubles::alloc(shape, device);
  Array::wrap(gufunc::Operand(values.data(), shape)).to_device(device, there);
  device.synchronize();
  return there;
}

gufunc::Error failure(const std::function<void()> &call) {
  try {
    call();
  } catch (const gufunc::Error &error) {
    return error;
  }
  return {GUF_OK, "no failure"};
}

TEST(CppExchange, ATensorIsDeletedOnceBehindTheLastView) {
  for (const gufunc::Device device : devices()) {
    const Doubles x = filled(device, {1, 2, 3, 4, 5, 6}, {2, 3});
    for (const bool versioned : {true, false}) {
      const Given given;
      DlpackTensor tensor =
          versioned ? given.versioned(x.transpose()) : given.unversioned(x.transpose());
      EXPECT_EQ(tensor.versioned() != nullptr, versioned);
      EXPECT_EQ(tensor.unversioned() != nullptr, !versioned);
      Doubles y = Doubles::from_dlpack(std::move(tensor));
      EXPECT_FALSE(tensor);
      EXPECT_EQ(y.address(), x.address());
      EXPECT_EQ(y.to_vector(), (Values{1, 4, 2, 5, 3, 6}));
      Array row = y.slice({{1, 2}});
      y = Doubles();
      device.synchronize();
      EXPECT_EQ(given.deleted(), 0);
      EXPECT_EQ(Doubles::from(row).to_vector(), (Values{2, 5}));
      row = Array();
      device.synchronize();
      EXPECT_EQ(given.deleted(1), 1);
    }
  }
}

TEST(CppExchange, WhoDoesNotTakeATensorDeletesIt) {
  const Doubles x = filled(gufunc::Device("cpu"), {1, 2}, {2});
  const Given given;
  {
    const DlpackTensor dies = given.versioned(x);
  }
  {
    const DlpackTensor dies = given.unversioned(x);
  }
  EXPECT_EQ(given.deleted(2), 2);
  DlpackTensor tensor = given.versioned(x);
  tensor = given.unversioned(x);
  EXPECT_EQ(given.deleted(3), 3);
  EXPECT_EQ(tensor.release_versioned(), nullptr);
  guf_dlpack_unversioned *const pointer = tensor.release_unversioned();
  tensor = DlpackTensor();
  EXPECT_EQ(given.deleted(3), 3);
  {
    const DlpackTensor taken(pointer);
  }
  EXPECT_EQ(given.deleted(4), 4);
  EXPECT_EQ(failure([] { Array::from_dlpack({}); }).status(), GUF_E_ARG);
}

TEST(CppExchange, ARefusedTensorIsDeletedBeforeTheFailure) {
  const Doubles x = filled(gufunc::Device("cpu"), {1, 2}, {2});
  const gufunc::Stream stream{gufunc::Device("cpu")};
  const auto refused = [&](const std::function<void(guf_dlpack &)> &change,
                           DlpackStream ready_on = {}) {
    const Given given;
    DlpackTensor tensor = given.versioned(x);
    guf_dlpack *const pointer = tensor.release_versioned();
    change(*pointer);
    const guf_status status =
        failure([&] { Array::from_dlpack(DlpackTensor(pointer), ready_on); }).status();
    EXPECT_EQ(given.deleted(), 1);
    return status;
  };
  const auto as_it_is = [](guf_dlpack &) {};
  EXPECT_EQ(refused([](guf_dlpack &managed) { managed.major = 2; }), GUF_E_ABI);
  EXPECT_EQ(refused([](guf_dlpack &managed) { managed.tensor.dtype = 0x24002; }), GUF_E_DTYPE);
  EXPECT_EQ(refused([](guf_dlpack &managed) { managed.tensor.device_type = 7; }), GUF_E_NO_BACKEND);
  EXPECT_EQ(refused(as_it_is, DlpackStream::legacy()), GUF_E_ARG);
  EXPECT_EQ(refused(as_it_is, DlpackStream::per_thread()), GUF_E_ARG);
  EXPECT_EQ(refused(as_it_is, stream), GUF_E_ARG);
  const Given given;
  using Floats = gufunc::TypedArray<float>;
  EXPECT_EQ(failure([&] { Floats::from_dlpack(given.versioned(x)); }).status(), GUF_E_DTYPE);
  EXPECT_EQ(given.deleted(1), 1);
}

TEST(CppExchange, FlagsAreExportedAndImported) {
  for (const gufunc::Device device : devices()) {
    const Doubles x = filled(device, {1, 2}, {2});
    const Given given;
    const Array y = Array::from_dlpack(given.versioned(x, GUF_DLPACK_READ_ONLY));
    EXPECT_TRUE(y.is_read_only());
    EXPECT_EQ(failure([&] { gufunc::Ufunc("negative")({y}, {y}); }).status(), GUF_E_READ_ONLY);
    const DlpackTensor again = y.to_dlpack();
    EXPECT_TRUE(again.is_read_only() && !again.is_copied());
    EXPECT_EQ(failure([&] { y.to_dlpack_unversioned(); }).status(), GUF_E_READ_ONLY);
    DlpackTensor copied = y.copy_to_dlpack();
    EXPECT_TRUE(copied.is_copied() && !copied.is_read_only());
    const Array copy = Array::from_dlpack(std::move(copied));
    EXPECT_FALSE(copy.is_read_only());
    EXPECT_NE(copy.address(), x.address());
    EXPECT_EQ(given.deleted(), 0);
    const DlpackTensor plain = x.to_dlpack_unversioned();
    EXPECT_FALSE(plain.is_read_only());
    EXPECT_EQ(plain.unversioned()->tensor.data, x.data());
  }
}

TEST(CppExchange, StreamsOrderTheExchange) {
  for (const gufunc::Device device : devices()) {
    if (std::string(device.info().backend) == "cpu") continue;
    constexpr int64_t kSize = 1 << 20;
    const gufunc::Stream stream(device);
    const gufunc::Ufunc add("add"), negative("negative");
    const Doubles x = Doubles::alloc({kSize}, device);
    x.fill(1);
    device.synchronize();
    const auto queued = gufunc::CallKeywords().on(stream);
    for (int k = 0; k < 8; ++k) add({x, 1}, {x}, queued);
    const Given given;
    {  // the values are still being computed
      const Array y = Array::from_dlpack(given.versioned(x), stream);
      EXPECT_EQ(Doubles::from(negative({y})).to_vector(), Values(kSize, -9));
      add({y, 1}, {y});
      const DlpackTensor tensor = y.to_dlpack(stream);
      const Array read = negative({x}, queued);
      stream.synchronize();
      EXPECT_EQ(Doubles::from(read).to_vector(), Values(kSize, -10));
    }
    device.synchronize();
    EXPECT_EQ(given.deleted(1), 1);
    const gufunc::Stream other{gufunc::Device("cpu")};
    EXPECT_EQ(failure([&] { x.to_dlpack(other); }).status(), GUF_E_DEVICE_MISMATCH);
    EXPECT_TRUE(x.to_dlpack(DlpackStream::legacy()) && x.to_dlpack(DlpackStream::per_thread()));
  }
}

}  // namespace
