// SPDX-License-Identifier: Apache-2.0
// Implements the fixture. It opens the driver library under the names that the plugin uses.
#include "device_fixture.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>

namespace device_test {
namespace {

template <class Function>
void bind(const Sim &sim, const char *name, Function *out) {
  *out = reinterpret_cast<Function>(dlsym(sim.library, name));
  if (*out == nullptr) ADD_FAILURE() << "the driver has no " << name;
}

// Makes the functions of a simulated driver do nothing, because a real driver has no simulated
// faults, counters or violations.
void bind_nothing(Sim *sim) {
  sim->set = [](const char *, const char *) { return 0; };
  sim->fault = [](const char *) { return 0; };
  sim->clear_faults = [] {};
  sim->calls = [](const char *) { return uint64_t{0}; };
  sim->clear_calls = [] {};
  sim->live = [](const char *) { return uint64_t{0}; };
  sim->used_bytes = [] { return uint64_t{0}; };
  sim->violations = [] { return uint32_t{0}; };
  sim->violation = [](uint32_t) { return ""; };
}

// Opens a driver library. Tries the same names in the same order as the plugins.
void *open_driver(const std::string &backend) {
  if (backend == "cuda") return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  for (const char *const name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {
    void *const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
  }
  return nullptr;
}

Sim open_sim(const std::string &backend) {
  Sim sim = {};
  sim.library = open_driver(backend);
  if (sim.library == nullptr) {
    ADD_FAILURE() << dlerror();
    return sim;
  }
  bind(sim, backend == "cuda" ? "cuLaunchHostFunc" : "hipLaunchHostFunc", &sim.host_function);
  if (on_real_driver()) {
    bind_nothing(&sim);
    return sim;
  }
  bind(sim, "gufunc_sim_set", &sim.set);
  bind(sim, "gufunc_sim_fault", &sim.fault);
  bind(sim, "gufunc_sim_clear_faults", &sim.clear_faults);
  bind(sim, "gufunc_sim_calls", &sim.calls);
  bind(sim, "gufunc_sim_clear_calls", &sim.clear_calls);
  bind(sim, "gufunc_sim_live", &sim.live);
  bind(sim, "gufunc_sim_used_bytes", &sim.used_bytes);
  bind(sim, "gufunc_sim_violations", &sim.violations);
  bind(sim, "gufunc_sim_violation", &sim.violation);
  return sim;
}

}  // namespace

const Sim &sim_of(const std::string &backend) {
  static std::map<std::string, Sim> all;
  const auto found = all.find(backend);
  return found != all.end() ? found->second : all.emplace(backend, open_sim(backend)).first->second;
}

bool on_real_driver() {
  return secure_getenv("GUFUNC_TEST_REAL_DRIVER") != nullptr;
}

std::string sim_order() {
  const char *const order = secure_getenv("GUFUNC_SIM_ORDER");
  return order == nullptr ? "eager" : order;
}

Current::Current(const Sim &sim, int device) : device_(device) {
  int (*retain)(void **, int) = nullptr;
  int (*push)(void *) = nullptr;
  if (dlsym(sim.library, "cuCtxPopCurrent_v2") == nullptr) return;
  bind(sim, "cuDevicePrimaryCtxRetain", &retain);
  bind(sim, "cuCtxPushCurrent_v2", &push);
  bind(sim, "cuCtxPopCurrent_v2", &pop_);
  bind(sim, "cuDevicePrimaryCtxRelease_v2", &release_);
  void *context = nullptr;
  EXPECT_EQ(retain(&context, device), 0);
  EXPECT_EQ(push(context), 0);
}

Current::~Current() {
  void *context = nullptr;
  if (pop_ == nullptr) return;
  EXPECT_EQ(pop_(&context), 0);
  EXPECT_EQ(release_(device_), 0);
}

Gate::Gate(const std::string &backend, guf_stream stream) : state_(new State) {
  guf_error error = fresh_error();
  guf_device device = nullptr;
  guf_device_info info = {};
  info.struct_size = sizeof info;
  uint64_t native = 0;
  EXPECT_EQ(guf_stream_get_device(stream, &device, &error), GUF_OK) << error.message;
  EXPECT_EQ(guf_device_get_info(device, &info, &error), GUF_OK) << error.message;
  EXPECT_EQ(guf_stream_get_native(nullptr, stream, &native, &error), GUF_OK) << error.message;
  const Sim &sim = sim_of(backend);
  const Current current(sim, info.index);
  const std::string order = sim_order();
  const int count = order == "eager" ? 1 : order == "lazy" ? 64 : 0;
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(
        sim.host_function(
            reinterpret_cast<void *>(native), order == "eager" ? pass : [](void *) {}, state_),
        0);
  }
}

void Gate::open() {
  const std::lock_guard lock(state_->mutex);
  state_->opened = true;
  state_->changed.notify_all();
}

void Gate::pass(void *gate) {
  auto *const state = static_cast<State *>(gate);
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return state->opened; });
}

Devices::Devices() {
  if (!on_cpu()) violations_ = sim().violations();
}

void Devices::TearDown() {
  if (!on_cpu()) sim().clear_faults();
  for (const guf_array stranger : strangers_) EXPECT_THAT(values(stranger), testing::Each(77.0F));
  for (const guf_stream stream : streams_) guf_stream_release(stream, nullptr);
  for (const guf_event event : events_) guf_event_release(event, nullptr);
  for (const guf_array array : arrays_) guf_array_release(array, nullptr);
  for (const guf_ufunc ufunc : ufuncs_) guf_ufunc_release(ufunc, nullptr);
  guf_poll(0, nullptr, nullptr);
  if (on_cpu()) return;
  for (uint32_t i = violations_; i < sim().violations(); ++i) ADD_FAILURE() << sim().violation(i);
}

bool Devices::has_device(int index) const {
  guf_device found = nullptr;
  return guf_device_get(nullptr, (backend_ + ":" + std::to_string(index)).c_str(), &found,
                        nullptr) == GUF_OK;
}

guf_device Devices::device(int index) const {
  guf_device found = nullptr;
  guf_error error = fresh_error();
  const std::string spec = on_cpu() ? "cpu" : backend_ + ":" + std::to_string(index);
  EXPECT_EQ(guf_device_get(nullptr, spec.c_str(), &found, &error), GUF_OK) << error.message;
  return found;
}

void Devices::let_go(guf_array array) {
  std::erase(arrays_, array);
  EXPECT_EQ(guf_array_release(array, &error_), GUF_OK) << error_.message;
}

guf_array Devices::empty(guf_device device, std::vector<int64_t> shape, guf_dtype dtype) {
  guf_array array = nullptr;
  EXPECT_EQ(guf_array_alloc(device, dtype, static_cast<int32_t>(shape.size()), shape.data(),
                            nullptr, GUF_ORDER_C, &array, &error_),
            GUF_OK)
      << error_.message;
  return keep(array);
}

guf_array Devices::floats(guf_device device, const std::vector<float> &values) {
  gufunc::Operands operands;
  const guf_tensor *const tensor = operands.tensor(gufunc::view(GUF_F32, values))->tensor;
  guf_array host = nullptr, moved = nullptr;
  EXPECT_EQ(guf_array_wrap(tensor, nullptr, nullptr, 0, &host, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_array_to_device(host, device, nullptr, &moved, &error_), GUF_OK) << error_.message;
  guf_array_release(host, nullptr);
  return keep(moved);
}

guf_array Devices::filled(guf_device device, int64_t size, float value) {
  return floats(device, std::vector<float>(static_cast<size_t>(size), value));
}

guf_array Devices::view(guf_array array, int64_t start, int64_t step) {
  guf_array made = nullptr;
  const int64_t stop = INT64_MIN;
  EXPECT_EQ(guf_array_slice(array, 1, &start, &stop, &step, &made, &error_), GUF_OK)
      << error_.message;
  return keep(made);
}

std::vector<float> Devices::values(guf_array array) {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(guf_array_get_info(array, &info, &error_), GUF_OK) << error_.message;
  std::vector<float> values(info.size, -99);
  EXPECT_EQ(
      guf_array_copy_to_host(array, values.data(), 4 * info.size, GUF_ORDER_C, nullptr, &error_),
      GUF_OK)
      << error_.message;
  return values;
}

guf_stream Devices::stream(guf_device device) {
  guf_stream stream = nullptr;
  EXPECT_EQ(guf_stream_create(device, 0, &stream, &error_), GUF_OK) << error_.message;
  streams_.push_back(stream);
  return stream;
}

guf_event Devices::event(guf_device device) {
  guf_event event = nullptr;
  EXPECT_EQ(guf_event_create(device, 0, &event, &error_), GUF_OK) << error_.message;
  events_.push_back(event);
  return event;
}

guf_ufunc Devices::find(const char *name) {
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_find(nullptr, name, &ufunc, &error_), GUF_OK) << error_.message;
  ufuncs_.push_back(ufunc);
  return ufunc;
}

guf_status Devices::call(const char *name, const std::vector<guf_operand> &inputs, guf_operand out,
                         guf_stream stream) {
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = static_cast<int32_t>(inputs.size());
  args.noutputs = 1;
  args.inputs = inputs.data();
  args.outputs = &out;
  args.options.stream = stream;
  error_ = fresh_error();
  const guf_status status = guf_call(find(name), &args, &error_);
  if (status == GUF_OK && out.kind == GUF_OPERAND_ARRAY) {
    const bool known = std::find(arrays_.begin(), arrays_.end(), out.array) != arrays_.end();
    if (!known) keep(out.array);
  }
  return status;
}

guf_status Devices::reduce(const char *name, guf_operand input, guf_operand out,
                           guf_stream stream) {
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.input = &input;
  args.output = &out;
  args.options.stream = stream;
  error_ = fresh_error();
  return guf_reduce(find(name), &args, &error_);
}

void Devices::synchronize(guf_stream stream) {
  EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK) << error_.message;
}

void Devices::reuse_memory(guf_device device, int64_t size) {
  guf_poll(0, nullptr, nullptr);
  const guf_stream apart = stream(device);
  const guf_operand value = scalar_of(77);
  for (int i = 0; i < 8; ++i) {
    strangers_.push_back(empty(device, {size}));
    EXPECT_EQ(guf_array_fill(strangers_.back(), &value, apart, &error_), GUF_OK) << error_.message;
  }
  synchronize(apart);
}

}  // namespace device_test
