// SPDX-License-Identifier: Apache-2.0
// Tests that every method and call runs within the stack size that call.h states. Each case runs on
// a thread with a stack of this size and a guard page. The first cases also open the backend.
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>
#include <pthread.h>
#include <sys/mman.h>

#include <complex>
#include <functional>

#include "tests/support/requests.h"
#include "tests/unit/method/state_fixture.h"

namespace gufunc {
namespace {

constexpr size_t kStated = size_t{256} << 10;  // stack size that call.h states

// Stack frames are several times larger with sanitizers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStack = 8 * kStated;
#else
constexpr size_t kStack = kStated;
#endif

class SmallStack {
 public:
  SmallStack() {
    stack_ = static_cast<char *>(
        mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(stack_, kGuard, PROT_NONE);
  }
  SmallStack(const SmallStack &) = delete;
  SmallStack &operator=(const SmallStack &) = delete;
  ~SmallStack() { munmap(stack_, kGuard + kStack); }

  // Runs `body` on a thread with a small stack. Returns the number of stack bytes that were
  // written, including the bytes that the start of the thread needs.
  size_t run(const std::function<void()> &body) {
    std::memset(stack_ + kGuard, kPaint, kStack);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack_ + kGuard, kStack);
    pthread_t thread = {};
    const auto start = [](void *given) -> void * {
      (*static_cast<const std::function<void()> *>(given))();
      return nullptr;
    };
    const int failure =
        pthread_create(&thread, &attributes, start, const_cast<std::function<void()> *>(&body));
    pthread_attr_destroy(&attributes);
    EXPECT_EQ(failure, 0);
    if (failure == 0) pthread_join(thread, nullptr);
    size_t clean = 0;
    while (clean < kStack && stack_[kGuard + clean] == kPaint) ++clean;
    return kStack - clean;
  }

 private:
  static constexpr size_t kGuard = 4096;
  static constexpr char kPaint = 0x5C;
  char *stack_;
};

// Before a case runs on the small stack, the main thread allocates everything that the case needs.
class StackNeed : public testing::Test {
 protected:
  void expect_fits(const char *name, const std::function<guf_status()> &body) {
    guf_status status = GUF_OK;
    const size_t used = stack_.run([&] { status = body(); });
    EXPECT_EQ(status, GUF_OK) << name;
    RecordProperty(name, static_cast<int>(used));
    // A quarter of the stack is reserved for the kernels of other processors and for other C
    // libraries.
    EXPECT_LE(used, kStack / 4 * 3) << name << " used " << used << " bytes of stack";
  }

  template <class T>
  static std::vector<T> ones(size_t count) {
    return std::vector<T>(count, T{1});
  }

  SmallStack stack_;
};

// Returns a shape with the largest possible number of dimensions, of which few have an extent above
// 1.
std::vector<int64_t> long_shape() {
  std::vector<int64_t> shape(GUF_MAX_NDIM, 1);
  for (size_t axis = 0; axis < shape.size(); axis += 6) shape[axis] = 2;
  return shape;
}
constexpr size_t kElements = 2048;

TEST_F(StackNeed, FirstUse) {
  const std::vector<double> data = ones<double>(4);
  std::vector<double> result(4);
  Call call("add");
  call.in(view(GUF_F64, data)).in(view(GUF_F64, data)).out(view(GUF_F64, result));
  expect_fits("first call", [&] { return call.run(); });
  expect_fits("second call", [&] { return call.run(); });
}

TEST_F(StackNeed, Calls) {
  std::vector<double> data = ones<double>(kElements);
  std::vector<uint8_t> mask(kElements, 1);
  std::vector<std::complex<double>> wide(kElements);
  const View input = {GUF_F64, data.data(), long_shape(), {}, 0};
  {
    Call call("add");
    call.in(input).in(input).out({GUF_C128, wide.data(), long_shape(), {}, 0});
    call.where({GUF_BOOL, mask.data(), long_shape(), {}, 0});
    expect_fits("call with casts and a mask", [&] { return call.run(); });
  }
  {
    Call call("add");  // the output overlaps the reversed input, so the input is staged
    call.in({GUF_F64, &data[kElements - 1], {kElements}, {-8}, 0}).in(view(GUF_F64, data));
    call.out(view(GUF_F64, data));
    expect_fits("call that overlaps", [&] { return call.run(); });
  }
  {
    Call call("matmul");
    std::vector<double> product(64 * 64);
    call.in(matrix(GUF_F64, data, 32, 64)).in(matrix(GUF_F64, data, 64, 32));
    call.out(matrix(GUF_F64, product, 32, 32));
    expect_fits("matmul", [&] { return call.run(); });
    uint32_t fp_flags = 0;
    call.args.options.fp_flags = &fp_flags;
    call.args.options.fp_report = GUF_FP_DIVIDE | GUF_FP_OVERFLOW | GUF_FP_INVALID;
    expect_fits("matmul with floating-point flags", [&] { return call.run(); });
  }
  {
    Call call("solve");  // casts its operands, and the loop copies each matrix to its stack
    const std::vector<int32_t> whole(kElements, 1);
    std::vector<double> solution(8 * 8);
    call.in(matrix(GUF_I32, whole, 8, 8)).in(matrix(GUF_I32, whole, 8, 8));
    call.out(matrix(GUF_F64, solution, 8, 8));
    expect_fits("solve with casts", [&] { return call.run(); });
    uint32_t fp_flags = 0;
    call.args.options.fp_flags = &fp_flags;
    call.args.options.fp_report = GUF_FP_DIVIDE | GUF_FP_OVERFLOW | GUF_FP_INVALID;
    expect_fits("solve with floating-point flags", [&] { return call.run(); });
  }
  {
    Call call("add");
    call.in(input).in(input).out_missing();
    expect_fits("call that allocates", [&] {
      call.ready();
      return guf_call(call.handle, &call.args, &call.error);
    });
    guf_array_release(call.outputs[0].array, nullptr);
  }
  {
    Call call("add");
    call.in(input).in(input).out({GUF_F64, data.data(), long_shape(), {}, 0});
    char text[8192];
    uint64_t length = sizeof text;
    guf_resolution resolution = {};
    resolution.struct_size = sizeof resolution;
    expect_fits("explain", [&] {
      return requests::explain_call(call.handle, call.ready(), text, &length, &call.error);
    });
    expect_fits("resolve", [&] {
      return requests::resolve_call(call.handle, call.ready(), &resolution, &call.error);
    });
    guf_plan plan = nullptr;
    expect_fits("plan",
                [&] { return guf_plan_create(call.handle, call.ready(), &plan, &call.error); });
    guf_plan_release(plan, nullptr);
  }
}

TEST_F(StackNeed, Methods) {
  std::vector<double> data = ones<double>(kElements);
  const View input = {GUF_F64, data.data(), long_shape(), {}, 0};
  std::vector<uint8_t> mask(kElements, 1);
  {
    Reduce reduce("add", input);
    reduce.args.naxis = GUF_ALL_AXES;
    reduce.args.where = reduce.tensor({GUF_BOOL, mask.data(), long_shape(), {}, 0});
    expect_fits("reduce", [&] { return reduce.run(); });
    char text[8192];
    uint64_t length = sizeof text;
    expect_fits("explain reduce", [&] {
      return requests::explain_reduce(reduce.handle, &reduce.args, text, &length, &reduce.error);
    });
  }
  {
    std::vector<int32_t> numbers(kElements, 1);
    StateReduce reduce(trace(), {GUF_I32, numbers.data(), long_shape(), {}, 0}, 2);
    std::vector<int64_t> axes = {0, 6, 12};
    reduce.axes(axes);
    expect_fits("reduce with a state", [&] { return reduce.run(); });
  }
  {
    Accumulate accumulate("add", input);
    expect_fits("accumulate", [&] { return accumulate.run(); });
    const std::vector<int64_t> indices = {0, 1};
    Accumulate reduceat("add", input);
    expect_fits("reduceat", [&] { return reduceat.run_at(view(GUF_I64, indices)); });
  }
  {
    const std::vector<int64_t> zeros(kElements, 0);
    At at("add", input);
    for (int32_t k = 0; k < GUF_MAX_NDIM; ++k) at.index({GUF_I64, zeros.data(), {2, 1, 2}, {}, 0});
    const double one = 1;
    at.with({GUF_F64, &one, {}, {}, 0});
    expect_fits("at", [&] { return at.run(); });
    At mixed("less", input);
    mixed.index({GUF_I64, zeros.data(), {2}, {}, 0});
    mixed.with({GUF_F64, &one, {}, {}, 0});
    expect_fits("at of mixed types", [&] { return mixed.run(); });
  }
  {
    Call call("add");
    const View half = {GUF_F64, data.data(), std::vector<int64_t>(32, 1), {}, 0};
    call.in(half).in(half).out_missing();
    expect_fits("outer", [&] {
      call.ready();
      return guf_outer(call.handle, &call.args, &call.error);
    });
    guf_array_release(call.outputs[0].array, nullptr);
  }
}

}  // namespace
}  // namespace gufunc
