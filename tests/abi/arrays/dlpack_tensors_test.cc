// SPDX-License-Identifier: Apache-2.0
// Tests DLPack tensors of host memory: round trips of every dtype, and every invalid field. An
// invalid tensor is rejected, and its deleter is called once.
#include <random>
#include <thread>

#include "array_fixture.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A tensor that another library owns. It counts the calls of its deleter.
struct Foreign {
  int deleted = 0;
  int64_t shape[GUF_MAX_NDIM] = {2, 3}, strides[GUF_MAX_NDIM] = {3, 1};
  float data[6] = {0, 1, 2, 3, 4, 5};
  guf_dlpack managed = {};
  guf_dlpack_unversioned unversioned = {};

  Foreign() {
    managed.major = 1;
    managed.manager_context = unversioned.manager_context = this;
    managed.deleter = [](guf_dlpack *self) {
      ++static_cast<Foreign *>(self->manager_context)->deleted;
    };
    unversioned.deleter = [](guf_dlpack_unversioned *self) {
      ++static_cast<Foreign *>(self->manager_context)->deleted;
    };
    managed.tensor = {data, GUF_DLPACK_CPU, 0, 2, GUF_F32, shape, strides, 0};
    unversioned.tensor = managed.tensor;
  }
  Foreign(const Foreign &) = delete;
  Foreign &operator=(const Foreign &) = delete;
  guf_dlpack_tensor &tensor() { return managed.tensor; }
};

class DlpackTensors : public ArrayTest {
 protected:
  guf_status import_tensor(Foreign &foreign, guf_array *out, uint32_t flags = 0) {
    return guf_array_from_dlpack(&foreign.managed, nullptr, flags, out, &error_);
  }
  // Releases the array while the memory that it views still exists.
  static void drop(guf_array array) {
    guf_array_release(array, nullptr);
    guf_poll(0, nullptr, nullptr);
  }
  // Expects the tensor to be rejected and deleted, and no array to be returned.
  void fail_import(Foreign &foreign, guf_status expected, const char *text) {
    guf_array out = nullptr;
    EXPECT_EQ(import_tensor(foreign, &out), expected) << error_.message;
    EXPECT_THAT(error_.message, HasSubstr(text));
    EXPECT_EQ(out, nullptr);
    EXPECT_EQ(foreign.deleted, 1) << text;
  }
  guf_dlpack *export_tensor(guf_array array, uint32_t flags = 0) {
    guf_dlpack *managed = nullptr;
    expect(guf_array_to_dlpack(array, nullptr, flags, &managed, &error_));
    return managed;
  }
  void fail_export(guf_array array, guf_status expected, const char *text) {
    guf_dlpack *managed = nullptr;
    EXPECT_EQ(guf_array_to_dlpack(array, nullptr, 0, &managed, &error_), expected);
    EXPECT_THAT(error_.message, HasSubstr(text));
    EXPECT_EQ(managed, nullptr);
  }
};

TEST_F(DlpackTensors, ArraysOfTensors) {
  Foreign foreign;
  guf_array array = nullptr;
  expect(import_tensor(foreign, &array));
  guf_array_info seen = info(array);
  EXPECT_EQ(seen.dtype, GUF_F32);
  EXPECT_EQ(seen.device, cpu_);
  EXPECT_EQ(seen.address, reinterpret_cast<uint64_t>(foreign.data));
  EXPECT_EQ(seen.strides[0], 12);
  EXPECT_EQ(seen.flags & GUF_ARRAY_READ_ONLY, 0U);
  guf_array view = nullptr;
  expect(guf_array_transpose(array, 2, nullptr, &view, &error_));
  guf_array_release(array, nullptr);
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(foreign.deleted, 0);  // the view keeps the tensor alive
  EXPECT_THAT(values<float>(view), ElementsAre(0, 3, 1, 4, 2, 5));
  std::thread([&] { guf_array_release(view, nullptr); }).join();
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_F(DlpackTensors, UnversionedOnes) {
  Foreign foreign;
  guf_array array = nullptr;
  expect(guf_array_from_dlpack_unversioned(&foreign.unversioned, nullptr, 0, &array, &error_));
  EXPECT_THAT(values<float>(array), ElementsAre(0, 1, 2, 3, 4, 5));
  guf_array_release(array, nullptr);
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(foreign.deleted, 1);
  Foreign bad;
  bad.unversioned.tensor.ndim = -1;
  expect(guf_array_from_dlpack_unversioned(&bad.unversioned, nullptr, 0, &array, &error_),
         GUF_E_SHAPE);
  EXPECT_EQ(bad.deleted, 1);
}

TEST_F(DlpackTensors, UnusualTensorsAreAccepted) {
  guf_array array = nullptr;
  Foreign offset;
  offset.tensor().byte_offset = 8;
  offset.shape[0] = 1;
  offset.tensor().ndim = 2;
  expect(import_tensor(offset, &array));
  EXPECT_THAT(values<float>(array), ElementsAre(2, 3, 4));
  drop(array);
  Foreign compact;
  compact.tensor().strides = nullptr;
  expect(import_tensor(compact, &array));
  EXPECT_THAT(values<float>(array), ElementsAre(0, 1, 2, 3, 4, 5));
  drop(array);
  Foreign backwards;
  backwards.tensor().data = &backwards.data[5];
  backwards.strides[0] = -3;
  backwards.strides[1] = -1;
  expect(import_tensor(backwards, &array));
  EXPECT_THAT(values<float>(array), ElementsAre(5, 4, 3, 2, 1, 0));
  drop(array);
  Foreign immortal;
  immortal.managed.deleter = nullptr;
  expect(import_tensor(immortal, &array));
  guf_array_release(array, nullptr);
  guf_poll(0, nullptr, nullptr);
  Foreign nothing;  // a tensor without elements, with neither memory nor valid strides
  nothing.shape[0] = 0;
  nothing.strides[0] = INT64_MAX;
  nothing.tensor().data = nullptr;
  nothing.tensor().byte_offset = UINT64_MAX;
  expect(import_tensor(nothing, &array));
  EXPECT_EQ(info(array).size, 0U);
  drop(array);
  Foreign scalar;
  scalar.tensor().ndim = 0;
  scalar.tensor().shape = scalar.tensor().strides = nullptr;
  expect(import_tensor(scalar, &array));
  EXPECT_THAT(values<float>(array), ElementsAre(0));
  drop(array);
  Foreign fixed;
  fixed.managed.flags = GUF_DLPACK_READ_ONLY | 1U << 20;
  fixed.managed.minor = 7;
  expect(import_tensor(fixed, &array));
  const guf_operand value = gufunc::weak_float_of(1);
  expect(guf_array_fill(array, &value, nullptr, &error_), GUF_E_READ_ONLY);
  drop(array);
}

TEST_F(DlpackTensors, BrokenFieldsAreRefused) {
  struct Broken {
    const char *text;
    guf_status expected;
    void (*damage)(Foreign &);
  };
  const Broken kBroken[] = {
      {"expected 1.x, got 2.0", GUF_E_ABI, [](Foreign &f) { f.managed.major = 2; }},
      {"expected 1.x, got 0.0", GUF_E_ABI, [](Foreign &f) { f.managed.major = 0; }},
      {"ndim: expected 0..64, got -1", GUF_E_SHAPE, [](Foreign &f) { f.tensor().ndim = -1; }},
      {"found 65", GUF_E_SHAPE, [](Foreign &f) { f.tensor().ndim = 65; }},
      {"ndim: expected 0..64, got -2147483648", GUF_E_SHAPE,
       [](Foreign &f) { f.tensor().ndim = INT32_MIN; }},
      {"shape is NULL", GUF_E_ARG, [](Foreign &f) { f.tensor().shape = nullptr; }},
      {"negative", GUF_E_SHAPE, [](Foreign &f) { f.shape[1] = -3; }},
      {"too big", GUF_E_SHAPE, [](Foreign &f) { f.shape[0] = f.shape[1] = INT64_MAX / 2; }},
      {"too big", GUF_E_SHAPE, [](Foreign &f) { f.strides[0] = INT64_MAX; }},
      {"too big", GUF_E_SHAPE, [](Foreign &f) { f.strides[0] = INT64_MIN; }},
      {"below address 0", GUF_E_SHAPE, [](Foreign &f) { f.strides[0] = -(INT64_MAX / 8); }},
      {"no elements", GUF_E_ARG, [](Foreign &f) { f.tensor().data = nullptr; }},
      {"no elements", GUF_E_ARG,
       [](Foreign &f) {
         f.tensor().data = nullptr;
         f.tensor().byte_offset = 64;
       }},
      {"byte_offset", GUF_E_SHAPE, [](Foreign &f) { f.tensor().byte_offset = UINT64_MAX; }},
      {"beyond the last", GUF_E_SHAPE,
       [](Foreign &f) {
         f.tensor().byte_offset = UINT64_MAX - reinterpret_cast<uint64_t>(f.data) - 8;
       }},
      {"0 bits", GUF_E_DTYPE, [](Foreign &f) { f.tensor().dtype = 0x00010002; }},
      {"0 lanes", GUF_E_DTYPE, [](Foreign &f) { f.tensor().dtype = 0x00002002; }},
      {"4 lanes", GUF_E_DTYPE, [](Foreign &f) { f.tensor().dtype = 0x00042002; }},
      {"code 3", GUF_E_DTYPE, [](Foreign &f) { f.tensor().dtype = 0x00014003; }},
      {"code 10", GUF_E_DTYPE, [](Foreign &f) { f.tensor().dtype = 0x0001080A; }},
      {"code 128", GUF_E_DTYPE, [](Foreign &f) { f.tensor().dtype = GUF_DATETIME64; }},
      {"1 bits", GUF_E_DTYPE, [](Foreign &f) { f.tensor().dtype = 0x00010106; }},
      {"got DLPack device type 4", GUF_E_NO_BACKEND,
       [](Foreign &f) { f.tensor().device_type = 4; }},
      {"got DLPack device type -2", GUF_E_NO_BACKEND,
       [](Foreign &f) { f.tensor().device_type = -2; }},
      {"got DLPack device type 0", GUF_E_NO_BACKEND,
       [](Foreign &f) { f.tensor().device_type = 0; }},
      {"device_id is -1", GUF_E_NO_DEVICE,
       [](Foreign &f) {
         f.tensor().device_type = GUF_DLPACK_CUDA;
         f.tensor().device_id = -1;
       }},
  };
  for (const Broken &broken : kBroken) {
    Foreign foreign;
    broken.damage(foreign);
    const char *const text =
        std::strcmp(broken.text, "no elements") == 0 ? "address is 0" : broken.text;
    fail_import(foreign, broken.expected, text);
    // If the version of the tensor is unknown, the library must not read any field except the
    // deleter.
    if (broken.expected == GUF_E_ABI) continue;
    foreign.managed.deleter = nullptr;
    guf_array out = nullptr;
    EXPECT_EQ(import_tensor(foreign, &out), broken.expected);
  }
}

TEST_F(DlpackTensors, OtherArguments) {
  guf_array out = nullptr;
  expect(guf_array_from_dlpack(nullptr, nullptr, 0, &out, &error_), GUF_E_ARG);
  Foreign lost;
  expect(import_tensor(lost, nullptr), GUF_E_ARG);
  EXPECT_EQ(lost.deleted, 1);
  Foreign unknown;
  expect(import_tensor(unknown, &out, 1U << 9), GUF_E_ARG);
  EXPECT_EQ(unknown.deleted, 1);
  Foreign both;
  expect(import_tensor(both, &out, GUF_DLPACK_LEGACY_STREAM | GUF_DLPACK_PER_THREAD_STREAM),
         GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("select more than one stream"));
  Foreign ordered;
  expect(import_tensor(ordered, &out, GUF_DLPACK_LEGACY_STREAM), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("synchronize the stream first"));
  EXPECT_EQ(ordered.deleted, 1);
  guf_stream stream = nullptr;
  expect(guf_stream_create(cpu_, 0, &stream, &error_));
  Foreign waits;
  expect(guf_array_from_dlpack(&waits.managed, stream, 0, &out, &error_), GUF_E_ARG);
  guf_dlpack *managed = nullptr;
  const guf_array array = alloc(GUF_F32, {3});
  expect(guf_array_to_dlpack(array, stream, 0, &managed, &error_), GUF_E_ARG);
  expect(guf_array_to_dlpack(array, stream, GUF_DLPACK_LEGACY_STREAM, &managed, &error_),
         GUF_E_ARG);
  guf_stream_release(stream, nullptr);
  expect(guf_array_to_dlpack(array, stream, 0, &managed, &error_), GUF_E_HANDLE);
  expect(guf_array_to_dlpack(array, nullptr, 8, &managed, &error_), GUF_E_ARG);
  expect(guf_array_to_dlpack(array, nullptr, 0, nullptr, &error_), GUF_E_ARG);
  EXPECT_EQ(managed, nullptr);
  EXPECT_EQ(out, nullptr);
}

// Exports and imports an array of every dtype.
TEST_F(DlpackTensors, EveryTypeComesBack) {
  for (const guf_dtype dtype :
       {GUF_BOOL, GUF_I8, GUF_I16, GUF_I32, GUF_I64, GUF_U8, GUF_U16, GUF_U32, GUF_U64, GUF_F16,
        GUF_BF16, GUF_F32, GUF_F64, GUF_C64, GUF_C128}) {
    guf_array array = alloc(dtype, {2, 1, 3}), back = nullptr;
    const guf_array_info sent = info(array);
    guf_dlpack *const managed = export_tensor(array, GUF_DLPACK_COPIED);
    ASSERT_NE(managed, nullptr);
    EXPECT_EQ(managed->flags, uint64_t{GUF_DLPACK_IS_COPIED});
    EXPECT_EQ(managed->tensor.strides[0], 3);
    expect(guf_array_from_dlpack(managed, nullptr, 0, &back, &error_));
    const guf_array_info come = info(back);
    EXPECT_EQ(come.dtype, dtype);
    EXPECT_EQ(come.address, sent.address);
    EXPECT_EQ(std::memcmp(come.strides, sent.strides, 3 * sizeof(int64_t)), 0);
    EXPECT_EQ(come.flags | GUF_ARRAY_OWNS_DATA, sent.flags);
    guf_array_release(back, nullptr);
  }
}

TEST_F(DlpackTensors, KeepTheArray) {
  float memory[3] = {1, 2, 3};
  int released = 0;
  gufunc::Operands operands;
  guf_array array = nullptr;
  expect(guf_array_wrap(
      operands.tensor({GUF_F32, memory, {3}, {}, 0})->tensor,
      [](void *count, uint64_t) { ++*static_cast<int *>(count); }, &released,
      GUF_RELEASE_ANY_THREAD, &array, &error_));
  guf_dlpack *const managed = export_tensor(array);
  guf_array_release(array, nullptr);
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(released, 0);
  EXPECT_EQ(static_cast<float *>(managed->tensor.data)[2], 3);
  std::thread([&] { managed->deleter(managed); }).join();
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(released, 1);
}

TEST_F(DlpackTensors, UnsupportedArraysAreRefused) {
  guf_dtype structured = 0, time = 0;
  expect(guf_dtype_register("dlpack_struct", 12, 4, &structured, &error_));
  expect(guf_dtype_make_time(GUF_DATETIME64, GUF_UNIT_SECOND, 25, &time, &error_));
  fail_export(alloc(structured, {2}), GUF_E_DTYPE,
              "does not support structured dtypes: got dlpack_struct");
  fail_export(alloc(time, {2}), GUF_E_DTYPE, "does not support datetimes: got datetime64[25s]");
  double buffer[8] = {};
  fail_export(wrap(buffer, GUF_F64, {3}, {}, GUF_TENSOR_SWAPPED), GUF_E_DTYPE,
              "other byte order: got swapped float64");
  fail_export(wrap(buffer, GUF_F64, {3}, {12}), GUF_E_UNSUPPORTED,
              "12 bytes, not a multiple of the item size 8");
  // The stride of an axis of extent 1 has no effect.
  guf_dlpack *single = export_tensor(wrap(buffer, GUF_F64, {1, 2}, {12, 8}));
  EXPECT_EQ(single->tensor.strides[0], 2);
  single->deleter(single);
  const guf_array fixed = wrap(buffer, GUF_F64, {3}, {}, GUF_TENSOR_READ_ONLY);
  guf_dlpack *const managed = export_tensor(fixed);
  EXPECT_EQ(managed->flags, uint64_t{GUF_DLPACK_READ_ONLY});
  managed->deleter(managed);
  guf_dlpack_unversioned *plain = nullptr;
  expect(guf_array_to_dlpack_unversioned(fixed, nullptr, 0, &plain, &error_), GUF_E_READ_ONLY);
  EXPECT_EQ(plain, nullptr);
  expect(guf_array_to_dlpack_unversioned(alloc(GUF_F32, {2}), nullptr, 0, &plain, &error_));
  plain->deleter(plain);
}

// Sets fields to random values. Each tensor must be accepted or rejected, and deleted once.
TEST_F(DlpackTensors, RandomFields) {
  std::mt19937_64 random(7);
  const int64_t odd[] = {0, 1, -1, 2, 3, 64, 65, INT64_MAX, INT64_MIN, INT64_MAX / 4, 1 << 20};
  const auto pick = [&] { return odd[random() % std::size(odd)]; };
  int taken = 0;
  constexpr int kCases = 200000;
  for (int i = 0; i < kCases; ++i) {
    Foreign foreign;
    guf_dlpack_tensor &tensor = foreign.tensor();
    for (int k = 0; k < 2; ++k) {
      switch (random() % 10) {
        case 0:
          tensor.ndim = static_cast<int32_t>(pick());
          break;
        case 1:
          tensor.dtype = static_cast<guf_dtype>(random());
          break;
        case 2:
          tensor.dtype ^= 1U << random() % 32;
          break;
        case 3:
          tensor.byte_offset = static_cast<uint64_t>(pick());
          break;
        case 4:
          tensor.data = reinterpret_cast<void *>(pick());
          break;
        case 5:
          foreign.shape[random() % 2] = pick();
          break;
        case 6:
          foreign.strides[random() % 2] = pick();
          break;
        case 7:
          tensor.strides = nullptr;
          break;
        case 8:
          foreign.managed.flags = random();
          break;
        default:
          tensor.device_type = static_cast<int32_t>(pick());
          break;
      }
    }
    guf_array array = nullptr;
    const guf_status status = import_tensor(foreign, &array);
    if (status == GUF_OK) {
      ++taken;
      EXPECT_EQ(foreign.deleted, 0);
      guf_array_release(array, nullptr);
      guf_poll(0, nullptr, nullptr);
    }
    ASSERT_EQ(foreign.deleted, 1) << i;
  }
  EXPECT_GT(taken, kCases / 20);
  EXPECT_LT(taken, kCases - kCases / 20);
}

}  // namespace
