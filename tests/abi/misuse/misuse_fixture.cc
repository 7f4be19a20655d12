// SPDX-License-Identifier: Apache-2.0
// Makes live objects, stale handles, and valid arguments for every function.
#include "misuse_fixture.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace misuse {
namespace {

// Two module tables that are linked into the test follow. Each has a function "plus" and a raw
// kernel "work".
const guf_dtype kFloatTypes[3] = {GUF_F32, GUF_F32, GUF_F32};

void add_loop(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    double x = 0, y = 0;
    std::memcpy(&x, args[0] + i * steps[0], sizeof x);
    std::memcpy(&y, args[1] + i * steps[1], sizeof y);
    x += y;
    std::memcpy(args[2] + i * steps[2], &x, sizeof x);
  }
}

const guf_module_loop kModuleLoops[] = {{kFloatTypes, "guf_ew_plus_ff_f", 0, GUF_LOOP_NUMPY}};
// This function is the code of a raw kernel.
void do_nothing(void *, const void *) {}

void (*const kEntries[])(void) = {reinterpret_cast<void (*)(void)>(add_loop),
                                  reinterpret_cast<void (*)(void)>(do_nothing)};
const guf_module_image kImages[] = {
    {GUF_IMAGE_HOST, GUF_CODEC_NONE, "x86-64", nullptr, 0, 0, kEntries}};

guf_module_function make_function() {
  guf_module_function function = {};
  function.name = "plus";
  function.nin = 2;
  function.nout = 1;
  function.nloops = 1;
  function.loops = kModuleLoops;
  return function;
}
const guf_module_function kModuleFunctions[] = {make_function()};

const guf_module_parameter kParameters[] = {{GUF_PARAMETER_NUMBER, GUF_I64, 0, 0}};
const guf_module_parameters kAllParameters = {1, sizeof(guf_kernel_head) + 8, kParameters};
const guf_module_kernel kRawKernels[] = {
    {"work", "guf_rk_work", "does nothing", &kAllParameters, 1, 0, 64, 0, 0, 0}};

guf_module_v1 make_table(const char *name) {
  return {sizeof(guf_module_v1), GUF_KERNEL_ABI, name,       1, 1, 2, 1,
          kModuleFunctions,      kImages,        kRawKernels};
}

const guf_module_v1 kMisuseTable = make_table("misuse");
const guf_module_v1 kOtherMisuseTable = make_table("misuse_too");

const int64_t kColumns = 3;
const int64_t kIndices[] = {0, 1};
const int64_t kIndexCount = 2;
const guf_tensor kIndexTensor = {
    sizeof kIndexTensor, GUF_I64, 1,      0, reinterpret_cast<uint64_t>(&kIndices[0]),
    &kIndexCount,        nullptr, nullptr};
const guf_operand kIndexOperand = {GUF_OPERAND_TENSOR, 0, 0, 0, nullptr, &kIndexTensor, {0, 0}};
const guf_operand kOne = {GUF_OPERAND_WEAK_INT, 0, 0, 0, nullptr, nullptr, {1, 0}};

template <class Managed>
void delete_managed(const void *out) {
  Managed *made = nullptr;
  std::memcpy(&made, out, sizeof made);
  made->deleter(made);
}

constexpr unsigned char kCanary = 0xA5;
constexpr guf_dtype kTypes[] = {GUF_F64, GUF_F64, GUF_F64};
const int64_t kShape[] = {2, 3};
const int64_t kSwappedShape[] = {3, 2};
const int64_t kWide[] = {4, 2, 3};
const int64_t kAxes[] = {1, 0, 1, 0, 1, 0, 1, 0};
const int64_t kOneAxis[] = {0, 0, 0, 0, 0, 0, 0, 0};
const int64_t kStarts[] = {0, 1};
const int64_t kStops[] = {2, 3};
const int64_t kSteps[] = {1, 1};
const int64_t kWindows[] = {2, 2};
const uint32_t kOnes[] = {1, 1, 1};

void check(guf_status status, const char *what) {
  if (status != GUF_OK)
    throw std::runtime_error(std::string(what) + ": " + guf_status_name(status));
}

template <class T>
uint64_t word(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uint64_t>(value);
  } else {
    return static_cast<uint64_t>(value);
  }
}

struct Counting {
  guf_status (*retain)(uint64_t handle);
  guf_status (*release)(uint64_t handle);
};

template <class T, guf_status (*retain)(T, guf_error *), guf_status (*release)(T, guf_error *)>
constexpr Counting count() {
  return {[](uint64_t handle) { return retain(as<T>(handle), nullptr); },
          [](uint64_t handle) { return release(as<T>(handle), nullptr); }};
}

const Counting &counting(size_t kind) {
  static constexpr Counting kCounting[] = {
      count<guf_context, guf_context_retain, guf_context_release>(),
      count<guf_device, guf_device_retain, guf_device_release>(),
      count<guf_stream, guf_stream_retain, guf_stream_release>(),
      count<guf_event, guf_event_retain, guf_event_release>(),
      count<guf_array, guf_array_retain, guf_array_release>(),
      count<guf_ufunc, guf_ufunc_retain, guf_ufunc_release>(),
      count<guf_module, guf_module_retain, guf_module_release>(),
      count<guf_plan, guf_plan_retain, guf_plan_release>(),
      count<guf_graph, guf_graph_retain, guf_graph_release>(),
      count<guf_kernel, guf_kernel_retain, guf_kernel_release>()};
  return kCounting[kind];
}

bool is_table(const Parameter &parameter) {
  return std::strcmp(parameter.structure, "guf_module_v1") == 0;
}

bool is_out(const Parameter &parameter) {
  return parameter.kind == Class::kOut || parameter.kind == Class::kStructOut;
}

guf_array wrap(const guf_tensor &tensor) {
  guf_array array = nullptr;
  check(guf_array_wrap(&tensor, nullptr, nullptr, 0, &array, nullptr), "wrap");
  return array;
}

}  // namespace

// The methods run on the array of the fixture, and their results overwrite the elements of this
// array.
void Fixture::make_method_args() {
  row_ = {sizeof row_, GUF_F64, 1,      0, reinterpret_cast<uint64_t>(&data_[0]),
          &kColumns,   nullptr, nullptr};
  row_output_ = {GUF_OPERAND_TENSOR, 0, 0, 0, nullptr, &row_, {0, 0}};
  reduce_args_.struct_size = sizeof reduce_args_;
  reduce_args_.input = &inputs_[0];
  reduce_args_.output = &row_output_;
  accumulate_args_.struct_size = sizeof accumulate_args_;
  accumulate_args_.input = &inputs_[0];
  accumulate_args_.output = &outputs_[0];
  at_args_.struct_size = sizeof at_args_;
  at_args_.array = &inputs_[0];
  at_args_.indices = &kOne;
  at_args_.nindices = 1;
  at_args_.operand = &kOne;
}

unsigned char *Fixture::struct_buffer(const std::string &name) {
  return name == "guf_chunk_options" ? options_buffer_ : struct_buffer_;
}

void Fixture::fill_options() {
  const guf_chunk_options options = {sizeof options, 0, 8, 2, 0, 0, nullptr, nullptr};
  std::memset(options_buffer_, 0, sizeof options_buffer_);
  std::memcpy(options_buffer_, &options, sizeof options);
}

void Fixture::fill_method_args(const std::string &name, const std::string &function) {
  accumulate_args_.indices = function.ends_with("_reduceat") ? &kIndexOperand : nullptr;
  if (name == "guf_reduce_args") std::memcpy(struct_buffer_, &reduce_args_, sizeof reduce_args_);
  if (name == "guf_accumulate_args") {
    std::memcpy(struct_buffer_, &accumulate_args_, sizeof accumulate_args_);
  }
  if (name == "guf_at_args") std::memcpy(struct_buffer_, &at_args_, sizeof at_args_);
  if (name == "guf_request") {
    guf_request request = {};
    request.struct_size = sizeof request;
    request.operation = GUF_OPERATION_CALL;
    request.call = &args_;
    std::memcpy(struct_buffer_, &request, sizeof request);
  }
}

// Makes DLPack tensors to import. The tensors are in host memory. Calls with these tensors need no
// stream, so no function waits.
void Fixture::make_tensors() {
  static int64_t shape[] = {2, 3};
  static guf_dlpack managed = {1, 0, nullptr, nullptr, 0, {}};
  managed.tensor = {data_, GUF_DLPACK_CPU, 0, 2, GUF_F64, shape, nullptr, 0};
  static guf_dlpack_unversioned unversioned = {managed.tensor, nullptr, nullptr};
  good_["guf_array_from_dlpack.managed"] = reinterpret_cast<uint64_t>(&managed);
  good_["guf_array_from_dlpack_unversioned.managed"] = reinterpret_cast<uint64_t>(&unversioned);
  for (const char *const parameter : {"from_dlpack", "from_dlpack_unversioned"}) {
    good_[std::string("guf_array_") + parameter + ".ready_on"] = 0;
  }
  for (const char *const parameter : {"to_dlpack", "to_dlpack_unversioned"}) {
    good_[std::string("guf_array_") + parameter + ".consumer"] = 0;
  }
}

void Fixture::delete_tensor(const char *function, const void *out) {
  if (std::strcmp(function, "guf_array_to_dlpack") == 0) {
    delete_managed<guf_dlpack>(out);
  } else {
    delete_managed<guf_dlpack_unversioned>(out);
  }
}

Fixture::Fixture() {
  guf_device device = nullptr;
  guf_stream stream = nullptr;
  guf_event event = nullptr;
  guf_context context = nullptr;
  guf_module module = nullptr;
  check(guf_device_get(nullptr, "cpu", &device, nullptr), "device");
  check(guf_stream_create(device, 0, &stream, nullptr), "stream");
  check(guf_event_create(device, 0, &event, nullptr), "event");
  check(guf_context_create(0, &context, nullptr), "context");
  check(guf_module_register(nullptr, &kMisuseTable, &module, nullptr), "module");
  tensor_ = {sizeof tensor_, GUF_F64, 2, 0, word(&data_[0]), kShape, nullptr, nullptr};
  guf_kernel kernel = nullptr;
  check(guf_kernel_find(module, "work", &kernel, nullptr), "kernel");
  live_ = {word(context),
           word(device),
           word(stream),
           word(event),
           word(wrap(tensor_)),
           0,
           word(module),
           0,
           0,
           word(kernel)};
  make_ufunc_and_plan();
  make_method_args();
  make_structs();
  make_stale_handles();
}

Fixture::~Fixture() {
  guf_plan_release(as<guf_plan>(live_[kPlan]), nullptr);
  guf_ufunc_release(as<guf_ufunc>(live_[kUfunc]), nullptr);
  guf_array_release(as<guf_array>(live_[kArray]), nullptr);
  guf_array_release(as<guf_array>(good_["guf_array_squeeze.array"]), nullptr);
  guf_kernel_release(as<guf_kernel>(live_[kKernel]), nullptr);
  guf_module_release(as<guf_module>(live_[kModule]), nullptr);
  guf_context_release(as<guf_context>(live_[kContext]), nullptr);
  guf_event_release(as<guf_event>(live_[kEvent]), nullptr);
  guf_stream_release(as<guf_stream>(live_[kStream]), nullptr);
  guf_poll(0, nullptr, nullptr);
}

Fixture &Fixture::shared() {
  static Fixture fixture;
  return fixture;
}

void Fixture::make_ufunc_and_plan() {
  desc_ = {sizeof desc_, 2,       1,       GUF_IDENTITY_NONE, 0,      0,
           "misuse_sum", nullptr, nullptr, nullptr,           nullptr};
  guf_ufunc ufunc = nullptr;
  check(guf_ufunc_create(nullptr, &desc_, &ufunc, nullptr), "ufunc");
  loop_desc_ = {sizeof loop_desc_, GUF_LOOP_NUMPY, 0,       3,      kTypes,
                add_loop,          nullptr,        nullptr, nullptr};
  check(guf_ufunc_add_loop(ufunc, &loop_desc_, nullptr), "loop");
  live_[kUfunc] = word(ufunc);
  for (guf_operand &operand : inputs_) {
    operand = {GUF_OPERAND_ARRAY, 0, 0, 0, as<guf_array>(live_[kArray]), nullptr, {0, 0}};
  }
  outputs_[0] = {GUF_OPERAND_TENSOR, 0, 0, 0, nullptr, &tensor_, {0, 0}};
  args_.struct_size = sizeof args_;
  args_.ninputs = 2;
  args_.noutputs = 1;
  args_.inputs = inputs_;
  args_.outputs = outputs_;
  guf_plan plan = nullptr;
  check(guf_plan_create(ufunc, &args_, &plan, nullptr), "plan");
  live_[kPlan] = word(plan);
}

// Makes invalid handles: a handle that was released once, a handle that was released twice, a
// handle whose slot is in use again, a handle of another copy of the library, and arbitrary
// numbers.
void Fixture::make_stale_handles() {
  const guf_array freed = wrap(tensor_);
  check(guf_array_release(freed, nullptr), "release");
  if (guf_array_release(freed, nullptr) != GUF_E_HANDLE) throw std::runtime_error("freed twice");
  dead_.emplace_back("freed", word(freed));
  const guf_array old = wrap(tensor_);
  check(guf_array_release(old, nullptr), "release");
  guf_poll(0, nullptr, nullptr);
  const guf_array reused = wrap(tensor_);  // uses the same slot as the previous array
  dead_.emplace_back("slot reused", word(old));
  check(guf_array_release(reused, nullptr), "release");

  Dl_info info = {};
  dladdr(reinterpret_cast<void *>(&guf_version), &info);
  const auto copy = std::filesystem::temp_directory_path() / "libgufunc_misuse_copy.so";
  std::filesystem::copy_file(info.dli_fname, copy,
                             std::filesystem::copy_options::overwrite_existing);
  foreign_library_ = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove(copy);
  const auto foreign_wrap =
      foreign_library_ == nullptr
          ? nullptr
          : reinterpret_cast<decltype(&guf_array_wrap)>(dlsym(foreign_library_, "guf_array_wrap"));
  guf_array foreign = nullptr;
  if (foreign_wrap == nullptr || foreign_wrap == &guf_array_wrap) {
    throw std::runtime_error("no second copy of the library");
  }
  check(foreign_wrap(&tensor_, nullptr, nullptr, 0, &foreign, nullptr), "foreign");
  dead_.emplace_back("of another copy", word(foreign));

  dead_.emplace_back("an address", word(&data_[0]));
  for (const uint64_t number : {uint64_t{1}, ~uint64_t{0}, uint64_t{1} << 63}) {
    dead_.emplace_back("a number", number);
  }
  // Each of these handles differs in one bit from a live handle, so its slot, generation or kind
  // differs.
  for (uint32_t bit = 0; bit < 64; bit += 3) {
    dead_.emplace_back("one bit off", live_[kArray] ^ uint64_t{1} << bit);
  }
  uint64_t random = 3;
  for (int i = 0; i < 12; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    dead_.emplace_back("random", random);
  }
}

void Fixture::make_structs() {
  static const int64_t thin_shape[] = {1, 3};
  guf_tensor thin = tensor_;
  thin.shape = thin_shape;
  good_ = {
      {"dtype", GUF_F64},
      {"from", GUF_F32},
      {"to", GUF_F64},
      {"a", GUF_F32},
      {"b", GUF_I64},
      {"ndim", 2},
      {"naxes", 2},
      {"shape", word(kShape)},
      {"guf_array_reshape.shape", word(kSwappedShape)},
      {"guf_array_broadcast_to.shape", word(kWide)},
      {"guf_array_broadcast_to.ndim", 3},
      {"axes", word(kAxes)},
      {"guf_array_squeeze.axes", word(kOneAxis)},
      {"guf_array_squeeze.naxes", 1},
      {"guf_array_squeeze.array", word(wrap(thin))},
      {"starts", word(kStarts)},
      {"stops", word(kStops)},
      {"steps", word(kSteps)},
      {"windows", word(kWindows)},
      {"order", GUF_ORDER_C},
      {"casting", GUF_CASTING_SAME_KIND},
      {"guf_array_assign.destination", live_[kArray]},
      {"nbytes", sizeof data_},
      {"capacity", 256},
      {"spec", word("cpu")},
      {"spelling", word("float32")},
      {"time", GUF_TIMEDELTA64},
      {"unit", GUF_UNIT_SECOND},
      {"multiple", 25},
      {"itemsize", 24},
      {"alignment", 8},
      {"guf_dtype_register.name", word("misuse_struct")},
      {"path", word("/nonexistent/misuse.so")},
      {"guf_ufunc_find.name", word("misuse_sum")},
      {"guf_ufunc_find.context", 0},
      {"guf_apply.name", word("misuse_sum")},
      {"guf_apply.context", 0},
      {"ntensors", 3},
      {"function", word("plus")},
      {"guf_kernel_find.name", word("work")},
      {"grid", word(kOnes)},
      {"block", word(kOnes)},
      {"nargs", 1},
      {"ntypes", 3},
      {"types", word(kFloatTypes)},
      {"table", word(&kOtherMisuseTable)},
      {"timeout_ns", 1000000},
      {"native", 1},
      {"naddresses", 3},
      {"memory", GUF_HOST_PINNED},
      {"address", word(&data_[0])},
      {"size", sizeof data_},
      {"guf_stream_get_native.stream", 0},  // otherwise the function ignores the device
      {"keep_bytes", 4096},
      {"limit_bytes", 1 << 30},
  };
  static const uint64_t addresses[] = {word(&data_[0]), word(&data_[0]), word(&data_[0])};
  good_["addresses"] = word(addresses);
  static const guf_operand scalar = {GUF_OPERAND_WEAK_INT, 0, 0, 0, nullptr, nullptr, {7, 0}};
  good_["value"] = good_["args"] = word(&scalar);
  make_tensors();
}

const Struct &Fixture::structure(const char *name) const {
  for (const Struct &candidate : kStructs) {
    if (std::strcmp(candidate.name, name) == 0) return candidate;
  }
  throw std::runtime_error(std::string("no struct ") + name);
}

void Fixture::fill_struct(const std::string &name, const std::string &function) {
  if (name == "guf_chunk_options") return fill_options();
  std::memset(struct_buffer_, 0, sizeof struct_buffer_);
  if (name == "guf_tensor") {
    const int count = function == "guf_apply" ? 3 : 1;
    for (int i = 0; i < count; ++i)
      std::memcpy(struct_buffer_ + i * sizeof tensor_, &tensor_, sizeof tensor_);
  }
  if (name == "guf_call_args") std::memcpy(struct_buffer_, &args_, sizeof args_);
  fill_method_args(name, function);
  if (name == "guf_loop_desc") std::memcpy(struct_buffer_, &loop_desc_, sizeof loop_desc_);
  if (name == "guf_module_v1")
    std::memcpy(struct_buffer_, &kOtherMisuseTable, sizeof kOtherMisuseTable);
  if (name == "guf_reduction_desc") {  // the ufunc of the fixture has no reduction functions
    const guf_reduction_desc desc = {sizeof desc, 0, as<guf_ufunc>(live_[kUfunc]), nullptr};
    std::memcpy(struct_buffer_, &desc, sizeof desc);
  }
  if (name == "guf_ufunc_desc") {
    std::snprintf(fresh_name_, sizeof fresh_name_, "misuse_%llu",
                  static_cast<unsigned long long>(++fresh_count_));
    desc_.name = fresh_name_;
    std::memcpy(struct_buffer_, &desc_, sizeof desc_);
  }
}

Words Fixture::good(const Function &function) {
  Words words = {};
  variants_.clear();
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter &parameter = function.parameters[i];
    if (is_out(parameter)) {
      std::memset(outs_[i], kCanary, kCapacity);
      words[i] = out_buffer(i);
      const std::string name = parameter.name;
      if (name == "inout_array" || name == "inout_graph")
        std::memset(outs_[i], 0, sizeof(uint64_t));
      if (name == "inout_length") {
        const uint64_t capacity = 4096;
        std::memcpy(outs_[i], &capacity, sizeof capacity);
      }
      if (parameter.kind == Class::kStructOut) {
        const auto size = static_cast<uint32_t>(structure(parameter.structure).size);
        std::memcpy(outs_[i], &size, sizeof size);
      }
      continue;
    }
    if (parameter.kind == Class::kStructIn) {
      fill_struct(parameter.structure, function.name);
      words[i] = reinterpret_cast<uint64_t>(struct_buffer(parameter.structure));
      // The library identifies a registered table by its address, so the content of the table must
      // not change.
      if (is_table(parameter)) words[i] = word(&kOtherMisuseTable);
      continue;
    }
    const auto own = good_.find(std::string(function.name) + "." + parameter.name);
    const auto any = good_.find(parameter.name);
    if (own != good_.end()) {
      words[i] = own->second;
    } else if (parameter.kind == Class::kHandle) {
      words[i] = live_[static_cast<size_t>(parameter.handle)];
    } else if (parameter.kind == Class::kError) {
      words[i] = reinterpret_cast<uint64_t>(&error_);
    } else if (any != good_.end()) {
      words[i] = any->second;
    }
  }
  std::memset(&error_, kCanary, sizeof error_);
  error_.struct_size = sizeof error_;
  return words;
}

void Fixture::remember(const Function &function) {
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    if (is_out(function.parameters[i])) std::memcpy(saved_[i], outs_[i], kCapacity);
  }
  std::memcpy(saved_data_, data_, sizeof data_);
}

std::string Fixture::difference(const Function &function) const {
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    // A failing call may also write out_items.
    const bool report = std::strcmp(function.parameters[i].name, "out_items") == 0;
    if (is_out(function.parameters[i]) && !report &&
        std::memcmp(saved_[i], outs_[i], kCapacity) != 0) {
      return std::string("it wrote ") + function.parameters[i].name;
    }
  }
  return std::memcmp(saved_data_, data_, sizeof data_) != 0 ? "it wrote elements" : "";
}

// Retains an object before the call of a release function, so that the fixture keeps its own
// reference.
void Fixture::prepare(const Function &function, const Words &words) {
  if (!std::string(function.name).ends_with("_release")) return;
  const auto kind = static_cast<size_t>(function.parameters[0].handle);
  if (words[0] == live_[kind]) counting(kind).retain(words[0]);
}

void Fixture::finish_call(const Function &function, const Words &words, guf_status status) {
  if (status != GUF_OK) return;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter &parameter = function.parameters[i];
    if (std::strcmp(parameter.name, "out_managed") == 0) delete_tensor(function.name, outs_[i]);
    if (parameter.handle < 0) continue;
    const auto kind = static_cast<size_t>(parameter.handle);
    if (std::string(function.name).ends_with("_retain") && words[i] == live_[kind]) {
      counting(kind).release(words[i]);
    }
    if (parameter.kind == Class::kOut && words[i] == out_buffer(i)) {
      uint64_t made = 0;
      std::memcpy(&made, outs_[i], sizeof made);
      counting(kind).release(made);
    }
  }
}

}  // namespace misuse
