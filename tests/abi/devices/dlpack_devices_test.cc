// SPDX-License-Identifier: Apache-2.0
// Tests DLPack tensors of device memory: the device that a tensor names, and the order between the
// work of the producer and the work of the consumer.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::HasSubstr;

constexpr int64_t kSize = 1000;

// A tensor of another library, over the memory of an array of this library.
struct Foreign {
  std::atomic<int> deleted{0};
  int64_t size = kSize;
  guf_dlpack managed = {};

  Foreign(uint64_t address, int32_t type, int32_t index) {
    managed.major = 1;
    managed.manager_context = this;
    managed.deleter = [](guf_dlpack *self) {
      ++static_cast<Foreign *>(self->manager_context)->deleted;
    };
    managed.tensor = {
        reinterpret_cast<void *>(address), type, index, 1, GUF_F32, &size, nullptr, 0};
  }
  Foreign(const Foreign &) = delete;
  Foreign &operator=(const Foreign &) = delete;
};

// Makes a tensor that is never destroyed, because deleters may run late.
Foreign &make_foreign(uint64_t address, int32_t type, int32_t index) {
  static std::list<Foreign> all;
  return all.emplace_back(address, type, index);
}

class DlpackDevices : public Devices {
 protected:
  static guf_array_info info(guf_array array) {
    guf_array_info found = {};
    found.struct_size = sizeof found;
    EXPECT_EQ(guf_array_get_info(array, &found, nullptr), GUF_OK);
    return found;
  }
  guf_array import_tensor(guf_dlpack *managed, guf_stream ready_on = nullptr, uint32_t flags = 0) {
    guf_array array = nullptr;
    EXPECT_EQ(guf_array_from_dlpack(managed, ready_on, flags, &array, &error_), GUF_OK)
        << error_.message;
    return keep(array);
  }
  guf_dlpack *export_tensor(guf_array array, guf_stream consumer = nullptr, uint32_t flags = 0) {
    guf_dlpack *managed = nullptr;
    EXPECT_EQ(guf_array_to_dlpack(array, consumer, flags, &managed, &error_), GUF_OK)
        << error_.message;
    return managed;
  }
  void fail_import(Foreign &foreign, guf_stream ready_on, guf_status expected, const char *text) {
    guf_array array = nullptr;
    EXPECT_EQ(guf_array_from_dlpack(&foreign.managed, ready_on, 0, &array, &error_), expected);
    EXPECT_THAT(error_.message, HasSubstr(text));
    EXPECT_EQ(array, nullptr);
    EXPECT_EQ(foreign.deleted, 1);
  }
  void fill(guf_array array, float value, guf_stream stream) {
    const guf_operand operand = scalar_of(value);
    EXPECT_EQ(guf_array_fill(array, &operand, stream, &error_), GUF_OK) << error_.message;
  }

  const bool cuda_ = backend_ == "cuda";
  const int32_t type_ = cuda_ ? GUF_DLPACK_CUDA : GUF_DLPACK_ROC;
  const guf_device device_ = device(0);
  const guf_array memory_ = filled(device_, kSize, 1);
  const uint64_t address_ = info(memory_).address;
};

TEST_P(DlpackDevices, ComeBack) {
  for (const int index : {0, 1}) {
    if (!has_device(index)) continue;
    const guf_array sent = filled(device(index), kSize, 3);
    guf_dlpack *const managed = export_tensor(view(sent, 10, 2));
    EXPECT_EQ(managed->tensor.device_type, type_);
    EXPECT_EQ(managed->tensor.device_id, index);
    EXPECT_EQ(managed->tensor.strides[0], 2);
    const guf_array back = import_tensor(managed);
    EXPECT_EQ(info(back).device, device(index));
    EXPECT_EQ(info(back).address, info(sent).address + 40);
    EXPECT_EQ(call("add", {operand_of(back), operand_of(back)}, operand_of(back), nullptr), GUF_OK)
        << error_.message;
    EXPECT_EQ(values(sent)[10], 6.0F);
    EXPECT_EQ(values(sent)[11], 3.0F);
  }
}

TEST_P(DlpackDevices, HostMemoryKeepsItsKind) {
  const int32_t locked = cuda_ ? GUF_DLPACK_CUDA_HOST : GUF_DLPACK_ROC_HOST;
  const int32_t kinds[] = {locked, locked, cuda_ ? GUF_DLPACK_CUDA_MANAGED : GUF_DLPACK_CPU};
  for (int32_t kind = GUF_HOST_PINNED; kind <= GUF_HOST_MANAGED; ++kind) {
    guf_array host = nullptr;
    ASSERT_EQ(guf_array_alloc_host(device_, kind, GUF_F32, 1, &kSize, nullptr, GUF_ORDER_C, &host,
                                   &error_),
              GUF_OK)
        << error_.message;
    keep(host);
    fill(host, 2, nullptr);
    guf_dlpack *const first = export_tensor(host);
    EXPECT_EQ(first->tensor.device_type, kinds[kind - 1]);
    const guf_array back = import_tensor(first);
    EXPECT_EQ(info(back).device, info(host).device);
    EXPECT_THAT(values(back), Each(2.0F));
    guf_dlpack *const second = export_tensor(back);  // exports the imported array again
    EXPECT_EQ(second->tensor.device_type, kinds[kind - 1]);
    second->deleter(second);
    if (kind != GUF_HOST_MANAGED || !cuda_) continue;
    // Managed memory is used in place, together with device memory.
    const guf_stream device_stream = stream(device_);
    EXPECT_EQ(
        call("add", {operand_of(back), operand_of(memory_)}, operand_of(memory_), device_stream),
        GUF_OK)
        << error_.message;
    synchronize(device_stream);
    EXPECT_THAT(values(memory_), Each(3.0F));
  }
}

// The import itself does not wait. Work that is queued later on the default stream waits for the
// work of the producer. The tensor is deleted after the work on the default stream.
TEST_P(DlpackDevices, ImportsComeBehindTheirStream) {
  Foreign &foreign = make_foreign(address_, type_, 0);
  const guf_stream producer = stream(device_);
  const guf_array sums = empty(device_, {kSize});
  call("add", {operand_of(memory_), operand_of(memory_)}, operand_of(sums), producer);
  {
    Gate gate(backend_, producer);
    fill(memory_, 5, producer);
    const guf_array imported = import_tensor(&foreign.managed, producer);
    EXPECT_EQ(call("add", {operand_of(imported), operand_of(imported)}, operand_of(sums), nullptr),
              GUF_OK)
        << error_.message;
    let_go(imported);
    guf_poll(0, nullptr, nullptr);
    if (sim_order() == "eager") {
      EXPECT_EQ(foreign.deleted, 0);
    }
  }
  EXPECT_THAT(values(sums), Each(10.0F));
  EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_P(DlpackDevices, ConsumersWaitForTheArray) {
  const guf_stream producer = stream(device_), consumer = stream(device_);
  const guf_array sums = empty(device_, {kSize});
  Foreign &held = make_foreign(address_, type_, 0);
  {
    Gate gate(backend_, producer);
    import_tensor(&held.managed, producer);  // the default stream now waits for the gate
    fill(memory_, 7, nullptr);
    guf_dlpack *const managed = export_tensor(memory_, consumer);
    EXPECT_EQ(call("add", {operand_of(memory_), operand_of(memory_)}, operand_of(sums), consumer),
              GUF_OK)
        << error_.message;
    if (sim_order() == "eager") {
      EXPECT_EQ(guf_stream_query(consumer, &error_), GUF_NOT_READY);
    }
    managed->deleter(managed);
  }
  synchronize(consumer);
  EXPECT_THAT(values(sums), Each(14.0F));
}

// If the consumer deletes the tensor while work of the consumer is queued, this work must still
// read the right values.
TEST_P(DlpackDevices, MemoryIsKeptForTheConsumer) {
  const guf_stream consumer = stream(device_);
  const guf_array sums = empty(device_, {kSize});
  call("add", {operand_of(memory_), operand_of(memory_)}, operand_of(sums), consumer);
  synchronize(consumer);
  const guf_array sent = filled(device_, kSize, 9);
  guf_dlpack *const managed = export_tensor(sent, consumer);
  // The consumer wraps the memory, and has no reference to the array.
  gufunc::Operands operands;
  const gufunc::View wrapped = {GUF_F32, managed->tensor.data, {kSize}, {}, 0, device_};
  guf_array seen = nullptr;
  ASSERT_EQ(guf_array_wrap(operands.tensor(wrapped)->tensor, nullptr, nullptr, 0, &seen, &error_),
            GUF_OK);
  keep(seen);
  {
    Gate gate(backend_, consumer);
    EXPECT_EQ(call("add", {operand_of(seen), operand_of(seen)}, operand_of(sums), consumer), GUF_OK)
        << error_.message;
    if (!on_real_driver()) sim().clear_calls();
    std::thread([&] { managed->deleter(managed); }).join();
    EXPECT_EQ(sim().calls(nullptr), 0U);
    let_go(sent);
    guf_poll(0, nullptr, nullptr);
    const guf_array other = empty(device_, {kSize});  // reuses the memory if the memory is free
    fill(other, 50, nullptr);
  }
  synchronize(consumer);
  EXPECT_THAT(values(sums), Each(18.0F));
}

// Tests tensors of libraries that queue their work on the legacy stream or on the per-thread
// stream.
TEST_P(DlpackDevices, StreamsWithoutAHandle) {
  NEEDS_SIM();
  const auto late = [](void *done) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    static_cast<std::atomic<bool> *>(done)->store(true);
  };
  for (const uint64_t number : {uint64_t{1}, uint64_t{2}}) {
    const uint32_t flag = number == 1 ? GUF_DLPACK_LEGACY_STREAM : GUF_DLPACK_PER_THREAD_STREAM;
    Foreign &foreign = make_foreign(address_, type_, 0);
    std::atomic<bool> done{false};
    {
      const Current current(sim(), 0);
      EXPECT_EQ(sim().host_function(reinterpret_cast<void *>(number), late, &done), 0);
    }
    import_tensor(&foreign.managed, nullptr, flag);
    fill(memory_, 4, nullptr);
    EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
    EXPECT_TRUE(done);
    const uint64_t waits = sim().calls(cuda_ ? "cuStreamWaitEvent" : "hipStreamWaitEvent");
    guf_dlpack *const managed = export_tensor(memory_, nullptr, flag);
    EXPECT_EQ(sim().calls(cuda_ ? "cuStreamWaitEvent" : "hipStreamWaitEvent"), waits + 1);
    managed->deleter(managed);
    guf_poll(0, nullptr, nullptr);
  }
}

TEST_P(DlpackDevices, ChildrenDeleteNothing) {
  Foreign &foreign = make_foreign(address_, type_, 0);
  const guf_array imported = import_tensor(&foreign.managed);
  const pid_t child = fork();
  if (child == 0) {
    guf_array_release(imported, nullptr);
    guf_poll(0, nullptr, nullptr);
    _exit(foreign.deleted == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  let_go(imported);
  EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(foreign.deleted, 1);
}

TEST_P(DlpackDevices, MemoryOfOtherDevicesIsRefused) {
  std::vector<float> host(kSize);
  Foreign &on_host = make_foreign(reinterpret_cast<uint64_t>(host.data()), type_, 0);
  fail_import(on_host, nullptr, GUF_E_DEVICE_MISMATCH, "of no device");
  Foreign &absent = make_foreign(address_, type_, 99);
  fail_import(absent, nullptr, GUF_E_NO_DEVICE, "");
  guf_device cpu = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error_), GUF_OK);
  Foreign &of_cpu = make_foreign(address_, type_, 0);
  fail_import(of_cpu, stream(cpu), GUF_E_DEVICE_MISMATCH, "ready_on is of device cpu");
  const guf_stream captured = stream(device_);
  ASSERT_EQ(guf_stream_begin_capture(captured, &error_), GUF_OK) << error_.message;
  Foreign &in_graph = make_foreign(address_, type_, 0);
  fail_import(in_graph, captured, GUF_E_CAPTURE, "captured");
  guf_dlpack *managed = nullptr;
  EXPECT_EQ(guf_array_to_dlpack(memory_, captured, 0, &managed, &error_), GUF_E_CAPTURE);
  guf_graph graph = nullptr;
  EXPECT_EQ(guf_stream_end_capture(captured, &graph, &error_), GUF_OK) << error_.message;
  guf_graph_release(graph, nullptr);
  NEEDS_TWO_DEVICES();
  Foreign &of_other = make_foreign(info(filled(device(1), kSize, 1)).address, type_, 0);
  fail_import(of_other, nullptr, GUF_E_DEVICE_MISMATCH, "of device 1");
  EXPECT_EQ(guf_array_to_dlpack(memory_, stream(device(1)), 0, &managed, &error_),
            GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(managed, nullptr);
}

INSTANTIATE_TEST_SUITE_P(On, DlpackDevices, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test
