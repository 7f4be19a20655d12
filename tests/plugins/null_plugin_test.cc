// SPDX-License-Identifier: Apache-2.0
// Tests the null plugin through the core: devices, kernels, failures of every slot, and queued
// work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include "core/plugin/plugin_table.h"
#include "core/plugin/registry.h"
#include "tests/plugins/null_control.h"
#include "tests/support/fresh_error.h"

namespace gufunc::plugin {
namespace {

using ::testing::HasSubstr;

class NullPlugin : public ::testing::Test {
 protected:
  static Record &record() {
    static Record *const found = [] {
      guf_error error = fresh_error();
      const char *const path = GUFUNC_TEST_PLUGINS "/null/libgufunc_backend_null.so";
      EXPECT_EQ(load_backend(path, &error), GUF_OK) << error.message;
      Record *null = nullptr;
      std::span<Record *const> all;
      EXPECT_EQ(backends(&all, &error), GUF_OK) << error.message;
      for (Record *const record : all) {
        if (record->name == "null") null = record;
      }
      control_of(*null).script("probe=1000");
      EXPECT_EQ(probe_backend(*null, &error), GUF_E_NO_MEMORY) << "which is kept nowhere";
      // The choice of a device is final. A lack of memory must not make choose_device choose the
      // next device.
      backend::Device *chosen = nullptr;
      EXPECT_EQ(choose_device(&chosen, &error), GUF_E_NO_MEMORY) << error.message;
      control_of(*null).reset();
      control_of(*null).script("devices=70");
      EXPECT_EQ(probe_backend(*null, &error), GUF_OK) << error.message;
      return null;
    }();
    return *found;
  }
  static const null_control &control_of(const Record &null) {
    const void *table = nullptr;
    backend::ErrorRecord details(nullptr);
    EXPECT_EQ(null.api.extension("null.control", 1, &table, details.get()), GUF_OK);
    return *static_cast<const null_control *>(table);
  }
  static const null_control &control() { return control_of(record()); }
  void SetUp() override { control().reset(); }

  static backend::Device *device(const char *spec) {
    backend::Device *found = nullptr;
    EXPECT_EQ(find_device(spec, &found, nullptr), GUF_OK) << spec;
    return found;
  }

  guf_error error_ = fresh_error();
};

TEST_F(NullPlugin, CountsDevicesOnceAndOpensEachOnce) {
  EXPECT_EQ(record().ndevices, 70);
  EXPECT_STREQ(record().driver, "null driver 1");
  backend::Device *first = nullptr;
  ASSERT_EQ(find_device("null", &first, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(first->spec, "null:0");
  EXPECT_EQ(first, device("null:0"));
  EXPECT_NE(first, device("null:1"));
  EXPECT_NE(first->number, device("null:1")->number);
  EXPECT_STREQ(first->info.target, "null");
  EXPECT_TRUE(first->host_memory);
  EXPECT_EQ(find_device("null:70", &first, &error_), GUF_E_NO_DEVICE);
  EXPECT_THAT(error_.message, HasSubstr("no device null:70; backend null has 70 device(s)"));
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(find_device("null:64", &first, &error_), GUF_E_NO_DEVICE);
    EXPECT_STREQ(error_.message,
                 "device null:64: of the backend's 70 devices the first 64 can be opened");
  }
  EXPECT_EQ(device("null:63")->index, 63);
}

// A table that ends before a slot, or that has an older minor version. The core must not read the
// memory after the end of the table.
guf_backend_api old_table;
guf_status open_old(const guf_host_api *, uint32_t, guf_backend_api *api, guf_error *) {
  std::memcpy(api, &old_table, std::min(api->struct_size, old_table.struct_size));
  return GUF_OK;
}

TEST_F(NullPlugin, OldTablesDescribeNothing) {
  const BackendNote note = {"null", 0, 1, 1, "x86-64"};
  const guf_backend_launch launch = {};
  char text[100] = "";
  guf_backend_api opened = {};
  old_table = record().api;
  EXPECT_EQ(old_table.abi_minor, 1u);
  ASSERT_EQ(open_table(open_old, note, &opened, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(opened.describe_launch, record().api.describe_launch);
  EXPECT_EQ(opened.describe_method, record().api.describe_method);
  for (const bool is_short : {false, true}) {
    old_table = record().api;
    old_table.abi_minor = is_short ? 1 : 0;
    if (is_short) old_table.struct_size = offsetof(guf_backend_api, describe_launch);
    ASSERT_EQ(open_table(open_old, note, &opened, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(opened.describe_launch(nullptr, &launch, text, sizeof text, &error_),
              GUF_E_UNSUPPORTED);
    const guf_backend_method method = {};
    EXPECT_EQ(opened.describe_method(nullptr, &method, text, sizeof text, &error_),
              GUF_E_UNSUPPORTED);
    EXPECT_STREQ(text, "");
  }
}

TEST_F(NullPlugin, InvalidSpecs) {
  backend::Device *found = nullptr;
  for (const char *spec : {"", ":", "null:", ":0", "null:-1", "null:0x", "null:00000", "Null",
                           "null 0", "null:0:0", "0"}) {
    EXPECT_EQ(find_device(spec, &found, &error_), GUF_E_ARG) << spec;
  }
  EXPECT_EQ(find_device("absent:0", &found, &error_), GUF_E_NO_BACKEND);
  EXPECT_THAT(error_.message, HasSubstr("no backend named 'absent'; available: "));
  EXPECT_STREQ(error_.message, "no backend named 'absent'; available: null");
}

TEST_F(NullPlugin, AFailedDeviceIsTriedAgain) {
  control().script("device_open@1=1001");
  backend::Device *found = nullptr;
  EXPECT_EQ(find_device("null:2", &found, &error_), GUF_E_DEVICE_MEMORY);
  EXPECT_EQ(error_.native_code, 101001);
  EXPECT_EQ(find_device("null:2", &found, &error_), GUF_OK);
}

std::unique_ptr<op::Ufunc> make_ufunc(const char *name, int32_t nin, int32_t nout) {
  auto ufunc = std::make_unique<op::Ufunc>();
  ufunc->name = ufunc->full_name = name;
  EXPECT_EQ(op::make_elementwise(nin, nout, nullptr, 0, &ufunc->signature, nullptr), GUF_OK);
  return ufunc;
}

TEST_F(NullPlugin, FindsAndKeepsBuiltinKernels) {
  backend::Device &null = *device("null:0");
  const auto add = make_ufunc("add", 2, 1);
  op::Loop loop;
  loop.types = {GUF_F32, GUF_F32, GUF_F32};
  void *kernel = nullptr, *again = nullptr;
  ASSERT_EQ(backend::load_kernel(*add, loop, null, &kernel, &error_), GUF_OK) << error_.message;
  const uint64_t loads = control().calls("module_load"), gets = control().calls("kernel_get");
  ASSERT_EQ(backend::load_kernel(*add, loop, null, &again, &error_), GUF_OK);
  EXPECT_EQ(kernel, again);
  EXPECT_EQ(control().calls("kernel_get"), gets);

  op::Loop doubles;
  doubles.types = {GUF_F64, GUF_F64, GUF_F64};
  ASSERT_EQ(backend::load_kernel(*add, doubles, null, &again, &error_), GUF_OK);
  EXPECT_NE(kernel, again);
  EXPECT_EQ(control().calls("module_load"), loads) << "both loops share the image";

  op::Loop integers;
  integers.types = {GUF_I32, GUF_I32, GUF_I32};
  EXPECT_EQ(backend::load_kernel(*add, integers, null, &kernel, &error_), GUF_E_NO_IMAGE);
  EXPECT_THAT(error_.message,
              HasSubstr("no kernel of 'add' (int32,int32->int32) for device null:0 (null)"));
  const auto absent = make_ufunc("absent", 2, 1);
  EXPECT_EQ(backend::load_kernel(*absent, loop, null, &kernel, &error_), GUF_OK)
      << "the kept answer";
  op::Loop fresh;
  fresh.types = loop.types;
  EXPECT_EQ(backend::load_kernel(*absent, fresh, null, &kernel, &error_), GUF_E_NO_IMAGE);
}

void count_items(char **, const int64_t *dims, const int64_t *, void *user) {
  *static_cast<int64_t *>(user) += dims[0];
}

guf_launch_block one_dimension(int64_t items) {
  guf_launch_block block = {};
  block.noperands = 1;
  block.nin = 1;
  block.nloop = 1;
  block.items = static_cast<uint64_t>(items);
  block.size[0] = items;
  return block;
}

TEST_F(NullPlugin, HostLoopsRunOnlyWhereTheHostReaches) {
  const auto own = make_ufunc("own", 1, 0);
  op::Loop loop;
  loop.types = {GUF_F32};
  loop.host = reinterpret_cast<void (*)(void)>(&count_items);
  backend::Device &null = *device("null:0");
  void *kernel = nullptr;
  ASSERT_EQ(backend::load_kernel(*own, loop, null, &kernel, &error_), GUF_OK) << error_.message;
  int64_t items = 0;
  loop.user = &items;
  ASSERT_EQ(backend::launch(null, nullptr, kernel, loop, 1, one_dimension(7), nullptr, &error_),
            GUF_OK);
  EXPECT_EQ(items, 7);

  control().script("host_memory=0");
  backend::Device &far = *device("null:3");
  EXPECT_FALSE(far.host_memory);
  op::Loop same;
  same.types = loop.types;
  same.host = loop.host;
  EXPECT_EQ(backend::load_kernel(*own, same, far, &kernel, &error_), GUF_E_NO_IMAGE);
  EXPECT_THAT(error_.message, HasSubstr("is a host function, which device null:3 cannot run"));
}

// Makes each slot fail with each status that only a device can cause.
TEST_F(NullPlugin, EverySlotFailsWithTheScriptedCode) {
  backend::Device &null = *device("null:0");
  const guf_backend_api &api = null.backend->api;
  void *stream = nullptr, *event = nullptr;
  uint64_t address = 0;
  backend::ErrorRecord record(&error_);
  guf_error *const e = record.get();
  ASSERT_EQ(api.stream_open(null.native, 0, 0, &stream, e), GUF_OK);
  ASSERT_EQ(api.event_open(null.native, &event, e), GUF_OK);
  guf_launch_block block = one_dimension(1);
  const guf_backend_launch request = {sizeof request, 0, nullptr, nullptr, nullptr, &block};
  void *out = nullptr;
  const guf_module_image *const image = api.builtins()->images;
  const float one = 1;
  const auto expect = [&](const char *slot, auto call) {
    for (const guf_status status :
         {GUF_E_NO_DRIVER, GUF_E_DRIVER_OLD, GUF_E_NO_DEVICE, GUF_E_DEVICE_MEMORY, GUF_E_LAUNCH,
          GUF_E_CAPTURE, GUF_E_CANCELLED, GUF_E_FORKED, GUF_E_DEVICE_LOST, GUF_E_UNSUPPORTED}) {
      ASSERT_EQ(control().script((std::string(slot) + "@1=" + std::to_string(status)).c_str()),
                GUF_OK);
      EXPECT_EQ(call(), status) << slot;
      EXPECT_EQ(error_.native_code, status + 100000) << slot;
    }
  };
  expect("memory_alloc", [&] { return api.memory_alloc(null.native, 8, 0, nullptr, &address, e); });
  expect("memory_free", [&] { return api.memory_free(null.native, 0, 8, 0, nullptr, e); });
  expect("copy", [&] { return api.copy(null.native, nullptr, 0, 0, 0, 0, e); });
  expect("fill", [&] { return api.fill(null.native, nullptr, 0, &one, 4, 0, e); });
  expect("stream_open", [&] { return api.stream_open(null.native, 0, 0, &out, e); });
  expect("stream_query", [&] { return api.stream_query(stream, e); });
  expect("stream_synchronize", [&] { return api.stream_synchronize(stream, 0, e); });
  expect("stream_wait_event", [&] { return api.stream_wait_event(stream, event, e); });
  expect("event_open", [&] { return api.event_open(null.native, &out, e); });
  expect("event_record", [&] { return api.event_record(event, stream, e); });
  expect("event_query", [&] { return api.event_query(event, e); });
  expect("event_synchronize", [&] { return api.event_synchronize(event, 0, e); });
  expect("module_load", [&] { return api.module_load(null.native, image, &out, e); });
  expect("kernel_get", [&] { return api.kernel_get(nullptr, 0, "x", &out, e); });
  expect("launch", [&] { return api.launch(null.native, &request, e); });
  expect("convert", [&] { return api.convert(null.native, nullptr, &block, e); });
  guf_backend_method method = {};
  expect("method", [&] { return api.method(null.native, &method, e); });
  expect("shutdown", [&] { return api.shutdown(0, e); });
  api.event_close(event);
  api.stream_close(stream);
}

TEST_F(NullPlugin, QueuedWorkWaitsAndAStreamKeepsItsFirstFailure) {
  backend::Device &null = *device("null:0");
  const guf_backend_api &api = null.backend->api;
  backend::ErrorRecord record(&error_);
  void *stream = nullptr;
  ASSERT_EQ(api.stream_open(null.native, 0, 0, &stream, record.get()), GUF_OK);
  control().script("async=1");
  std::array<float, 4> values = {};
  const float seven = 7;
  const auto address = reinterpret_cast<uint64_t>(values.data());
  ASSERT_EQ(api.fill(null.native, stream, address, &seven, 4, 4, record.get()), GUF_OK);
  EXPECT_EQ(api.stream_query(stream, record.get()), GUF_NOT_READY);
  EXPECT_EQ(api.stream_synchronize(stream, 0, record.get()), GUF_TIMEOUT);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(control().complete(1), 1u);
  EXPECT_EQ(values[3], 7);

  guf_launch_block block = one_dimension(1);
  block.flags = GUF_LAUNCH_MASKED;
  const guf_backend_launch request = {sizeof request, 0, nullptr, stream, nullptr, &block};
  ASSERT_EQ(api.launch(null.native, &request, record.get()), GUF_OK);
  EXPECT_EQ(api.stream_synchronize(stream, UINT64_MAX, record.get()), GUF_E_UNSUPPORTED);
  EXPECT_EQ(api.stream_synchronize(stream, UINT64_MAX, record.get()), GUF_OK) << "reported once";
  const uint64_t open = control().live("stream");
  api.stream_close(stream);
  EXPECT_EQ(control().live("stream"), open - 1);
}

}  // namespace
}  // namespace gufunc::plugin
