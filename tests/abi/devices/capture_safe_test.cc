// SPDX-License-Identifier: Apache-2.0
// Tests the launch of an elementwise or generalized plan while its stream is captured. The launch
// makes only the driver calls that launch kernels, without queries or waits, and allocates neither
// device nor host memory. A captured reduction also queries whether its stream is being captured.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

#include "device_fixture.h"

namespace {

// The address ranges of the library and its plugins. Only allocations by code in these ranges are
// counted, because the simulated drivers, which are in the same process, also allocate memory.
struct Range {
  uintptr_t begin, end;
};
Range ranges[16];
std::atomic<size_t> nranges{0};
std::atomic<uint64_t> allocations{0};

void count_from(const void *caller) {
  const auto place = reinterpret_cast<uintptr_t>(caller);
  for (size_t i = 0; i < nranges.load(); ++i) {
    if (place >= ranges[i].begin && place < ranges[i].end) ++allocations;
  }
}

int add_ranges(dl_phdr_info *info, size_t, void *) {
  // Plugins are opened by file descriptor, so the loader lists them under /proc.
  const bool ours = std::strstr(info->dlpi_name, "/libgufunc") != nullptr ||
                    std::strncmp(info->dlpi_name, "/proc/", 6) == 0;
  if (!ours) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    const size_t n = nranges.load();
    if (n == std::size(ranges)) std::abort();
    ranges[n] = {begin, begin + segment.p_memsz};
    nranges.store(n + 1);
  }
  return 0;
}

void *allocate(size_t size, size_t alignment) {
  void *place = nullptr;
  if (posix_memalign(&place, alignment < 16 ? 16 : alignment, size == 0 ? 1 : size) != 0) {
    return nullptr;
  }
  return place;
}

void *allocate_or_throw(size_t size, size_t alignment) {
  void *const place = allocate(size, alignment);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

}  // namespace

void *operator new(size_t size) {
  count_from(__builtin_return_address(0));
  return allocate_or_throw(size, 16);
}
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  count_from(__builtin_return_address(0));
  return allocate(size, 16);
}
void *operator new(size_t size, std::align_val_t alignment) {
  count_from(__builtin_return_address(0));
  return allocate_or_throw(size, static_cast<size_t>(alignment));
}
void *operator new(size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept {
  count_from(__builtin_return_address(0));
  return allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void *place) noexcept {
  std::free(place);
}
void operator delete(void *place, size_t) noexcept {
  std::free(place);
}
void operator delete(void *place, const std::nothrow_t &) noexcept {
  std::free(place);
}
void operator delete(void *place, std::align_val_t) noexcept {
  std::free(place);
}
void operator delete(void *place, size_t, std::align_val_t) noexcept {
  std::free(place);
}
void operator delete(void *place, std::align_val_t, const std::nothrow_t &) noexcept {
  std::free(place);
}

// Sanitizers have their own malloc.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void *__libc_malloc(size_t size);
extern "C" void *__libc_memalign(size_t alignment, size_t size);
extern "C" void *malloc(size_t size) {
  count_from(__builtin_return_address(0));
  return __libc_malloc(size);
}
extern "C" int posix_memalign(void **out, size_t alignment, size_t size) {
  count_from(__builtin_return_address(0));
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
#endif

namespace device_test {
namespace {

using testing::Each;
using testing::IsEmpty;
using Calls = std::map<std::string, uint64_t>;

class CaptureSafe : public Devices {
 protected:
  void SetUp() override {
    if (nranges.load() == 0) {
      guf_device other = nullptr;
      guf_device_get(nullptr, "cuda:0", &other, nullptr);
      guf_device_get(nullptr, "roc:0", &other, nullptr);
      dl_iterate_phdr(add_ranges, nullptr);
    }
    ASSERT_GE(nranges.load(), 3U);
  }

  Calls counts() const {
    Calls found;
    const auto function =
        reinterpret_cast<const char *(*)(uint32_t)>(dlsym(sim().library, "gufunc_sim_function"));
    for (uint32_t i = 0; function(i) != nullptr; ++i) found[function(i)] = sim().calls(function(i));
    return found;
  }
  // Returns the driver calls since `before`, except calls that enter or leave a context.
  Calls since(const Calls &before) const {
    Calls found;
    for (const auto &[name, count] : counts()) {
      const bool visits = name == "cuCtxPushCurrent_v2" || name == "cuCtxPopCurrent_v2" ||
                          name == "cuCtxGetCurrent" || name == "cuCtxSetCurrent" ||
                          name == "hipSetDevice" || name == "hipGetDevice";
      if (!visits && count != before.at(name)) found[name] = count - before.at(name);
    }
    return found;
  }
  const char *launch_name() const {
    return backend_ == "cuda" ? "cuLaunchKernel" : "hipModuleLaunchKernel";
  }
  uint64_t address(guf_array array) {
    guf_array_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(guf_array_get_info(array, &info, &error_), GUF_OK);
    return info.address;
  }
  guf_plan plan(const char *name, std::vector<guf_array> arrays, const guf_operand *where) {
    std::vector<guf_operand> operands;
    for (const guf_array array : arrays) operands.push_back(operand_of(array));
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.ninputs = static_cast<int32_t>(arrays.size()) - 1;
    args.noutputs = 1;
    args.inputs = operands.data();
    args.outputs = &operands.back();
    args.where = where;
    guf_plan made = nullptr;
    EXPECT_EQ(guf_plan_create(find(name), &args, &made, &error_), GUF_OK) << error_.message;
    return made;
  }
  // Expects that each launch of the plan under capture makes exactly `kernels` driver calls, all of
  // which launch kernels.
  void expect_bare(guf_plan plan, std::vector<uint64_t> addresses, uint64_t kernels) {
    const auto count = static_cast<int32_t>(addresses.size());
    ASSERT_EQ(guf_stream_begin_capture(stream_, &error_), GUF_OK) << error_.message;
    for (int i = 0; i < 3; ++i) {
      const Calls before = counts();
      const uint64_t made = allocations.load();
      const guf_status status = guf_plan_launch(plan, stream_, count, addresses.data(), 0, &error_);
      const uint64_t news = allocations.load() - made;
      EXPECT_EQ(status, GUF_OK) << error_.message;
      EXPECT_EQ(since(before), (Calls{{launch_name(), kernels}})) << i;
      EXPECT_EQ(news, 0U) << i;
    }
    guf_graph graph = nullptr;
    ASSERT_EQ(guf_stream_end_capture(stream_, &graph, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_graph_launch(graph, stream_, &error_), GUF_OK) << error_.message;
    synchronize(stream_);
    guf_graph_release(graph, nullptr);
    guf_plan_release(plan, nullptr);
  }

  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_);
};

// Tests the counters themselves, which must detect allocations and queries.
TEST_P(CaptureSafe, TheCountersWork) {
  const Calls before = counts();
  const uint64_t made = allocations.load();
  const guf_array x = filled(device_, 100, 1);
  EXPECT_EQ(call("add", {operand_of(x), operand_of(x)}, {}, stream_), GUF_OK);
  EXPECT_GT(allocations.load(), made);
  EXPECT_GT(since(before).count(backend_ == "cuda" ? "cuStreamQuery" : "hipStreamQuery"), 0U);
}

TEST_P(CaptureSafe, ElementwisePlans) {
  const guf_array x = filled(device_, 1000, 2), y = filled(device_, 1000, 3),
                  out = filled(device_, 1000, 0);
  expect_bare(plan("add", {x, y, out}, nullptr), {address(x), address(y), address(out)}, 1);
  EXPECT_THAT(values(out), Each(5.0F));
}

TEST_P(CaptureSafe, PlansWithStridesCastsAndMasks) {
  const guf_array x = filled(device_, 1000, 2), backwards = view(x, -1, -1),
                  out = empty(device_, {1000}, GUF_F64), mask = empty(device_, {1000}, GUF_BOOL);
  const guf_operand yes = scalar_of(GUF_BOOL, 1);
  EXPECT_EQ(guf_array_fill(mask, &yes, nullptr, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK);
  const guf_operand where = operand_of(mask);
  expect_bare(plan("add", {x, backwards, out}, &where),
              {address(x), address(backwards), address(out), address(mask)}, 1);
  std::vector<double> found(1000);
  EXPECT_EQ(guf_array_copy_to_host(out, found.data(), 8000, GUF_ORDER_C, nullptr, &error_), GUF_OK);
  EXPECT_THAT(found, Each(4.0));
}

TEST_P(CaptureSafe, GeneralizedPlans) {
  const guf_array a = filled(device_, 600, 1), b = filled(device_, 600, 2),
                  out = filled(device_, 100, 0);
  const int64_t shape[] = {100, 6};
  guf_array rows_a = nullptr, rows_b = nullptr;
  ASSERT_EQ(guf_array_reshape(a, 2, shape, GUF_ORDER_C, &rows_a, &error_), GUF_OK);
  ASSERT_EQ(guf_array_reshape(b, 2, shape, GUF_ORDER_C, &rows_b, &error_), GUF_OK);
  keep(rows_a);
  keep(rows_b);
  expect_bare(plan("vecdot", {rows_a, rows_b, out}, nullptr),
              {address(a), address(b), address(out)}, 1);
  EXPECT_THAT(values(out), Each(12.0F));
}

// Methods have no plans. A captured reduction that needs no scratch memory queries whether its
// stream is being captured, and makes no other additional call.
TEST_P(CaptureSafe, Reductions) {
  const guf_array x = filled(device_, 64 * 16, 2), sums = filled(device_, 64, 0);
  const int64_t shape[] = {64, 16};
  guf_array rows = nullptr;
  ASSERT_EQ(guf_array_reshape(x, 2, shape, GUF_ORDER_C, &rows, &error_), GUF_OK);
  const guf_operand in = operand_of(keep(rows));
  guf_operand out = operand_of(sums);
  const int64_t axis = 1;
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.input = &in;
  args.output = &out;
  args.axis = &axis;
  args.naxis = 1;
  args.options.stream = stream_;
  const guf_ufunc add = find("add");
  ASSERT_EQ(guf_reduce(add, &args, &error_), GUF_OK) << error_.message;  // loads the kernels
  synchronize(stream_);
  ASSERT_EQ(guf_stream_begin_capture(stream_, &error_), GUF_OK) << error_.message;
  const Calls before = counts();
  ASSERT_EQ(guf_reduce(add, &args, &error_), GUF_OK) << error_.message;
  Calls made = since(before);
  EXPECT_EQ(made.erase(launch_name()), 1U);
  made.erase(backend_ == "cuda" ? "cuStreamIsCapturing" : "hipStreamIsCapturing");
  EXPECT_THAT(made, IsEmpty());
  guf_graph graph = nullptr;
  ASSERT_EQ(guf_stream_end_capture(stream_, &graph, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_graph_launch(graph, stream_, &error_), GUF_OK) << error_.message;
  synchronize(stream_);
  EXPECT_THAT(values(sums), Each(32.0F));
  guf_graph_release(graph, nullptr);
}

INSTANTIATE_TEST_SUITE_P(On, CaptureSafe, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test
