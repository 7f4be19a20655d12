// SPDX-License-Identifier: Apache-2.0
// Tests gufunc.hpp without exceptions. Built with -fno-exceptions and GUFUNC_NO_EXCEPTIONS. Exits
// with status 1 at the first failed check.
#include <cstdio>
#include <cstdlib>
#include <gufunc/gufunc.hpp>

namespace {

void demand(bool so, const char *what, int line) {
  if (so) return;
  std::fprintf(stderr, "%d: not so: %s\n", line, what);
  std::exit(1);
}
#define DEMAND(so) demand(so, #so, __LINE__)

using gufunc::Expected;
using Values = std::vector<double>;

void calls() {
  const Expected<gufunc::Ufunc> found = gufunc::Ufunc::find("add");
  DEMAND(static_cast<bool>(found));
  const gufunc::Ufunc &add = *found;
  Values a{1, 2, 3}, b{1, 2}, out(3);
  DEMAND(static_cast<bool>(add({a, 1}, {out})));
  DEMAND((out == Values{2, 3, 4}));
  const auto wrong = add({a, b});
  DEMAND(!wrong && wrong.error().status() == GUF_E_SHAPE);
  DEMAND(std::string(wrong.error().what()).find("could not be broadcast") != std::string::npos);
  const auto sum = add.reduce(a);
  DEMAND(sum && sum->ndim() == 0);
  const auto typed = gufunc::TypedArray<double>::from(*sum);
  DEMAND(typed && typed->to_vector().value() == Values{6});
  DEMAND(gufunc::TypedArray<float>::from(*sum).error().status() == GUF_E_DTYPE);
  DEMAND(add.explain({a, 1}).value().find("float64") != std::string::npos);
  DEMAND(add.resolve({a, 1}).value().output_shapes[0][0] == 3);
  const auto several = add.call(gufunc::Operands{a, 1}, gufunc::Operands{});
  DEMAND(several && several->size() == 1);
  const auto missing = gufunc::Ufunc::find("ad");
  DEMAND(!missing && missing.error().status() == GUF_E_NOT_FOUND);
  DEMAND(gufunc::Module::load("/nowhere.so").error().status() == GUF_E_IO);
  gufunc::ChunkOptions options;
  options.progress = [](int64_t, int64_t) { return false; };
  DEMAND(add.call_chunked({a, 1}, {out}, options).error().status() == GUF_E_CANCELLED);
  DEMAND(add.plan({a, 1}, {out}).value().workspace().value().nbytes == 0);
}

void answers() {
  using Number = Expected<int>;
  const Number good(3), bad(gufunc::Error(GUF_E_VALUE, "none"));
  DEMAND(good.has_value() && !bad.has_value());
  DEMAND(good.value_or(7) == 3 && bad.value_or(7) == 7);
  DEMAND(gufunc::Ufunc::find("ad").value_or(gufunc::Ufunc()) == gufunc::Ufunc());
  DEMAND(gufunc::Array().to_dlpack().value_or(gufunc::DlpackTensor()).versioned() == nullptr);
  DEMAND(gufunc::TypedArray<int>::alloc({2})
             ->to_dlpack()
             .value_or(gufunc::DlpackTensor())
             .versioned());
  DEMAND(Expected<void>().has_value() && !gufunc::load_backend("").has_value());
}

void loops() {
  const auto context = gufunc::Context::create();
  const auto own = gufunc::Ufunc::create("cpp_refuses", 1, 1, {}, *context);
  DEMAND(static_cast<bool>(own->add_loop(
      {GUF_F64, GUF_F64}, [](const gufunc::Loop &) -> guf_status { return GUF_E_VALUE; })));
  Values x{1};
  DEMAND((*own)({x}).error().status() == GUF_E_VALUE);
  DEMAND(static_cast<bool>(own->add_loop({GUF_I64, GUF_I64}, [](const gufunc::Loop &loop) {
    return loop.fail(GUF_E_VALUE, "no whole numbers", 0, 7);
  })));
  std::vector<int64_t> whole{1};
  const auto report = (*own)({whole});
  DEMAND(report.error().status() == GUF_E_VALUE && report.error().argument() == 0);
  DEMAND(std::string(report.error().what()) == "no whole numbers");
  DEMAND(report.error().native_code() == 7);
  DEMAND(static_cast<bool>(own->add_function<float(float)>([](float v) { return v + 1; })));
  std::vector<float> y{1};
  DEMAND(gufunc::TypedArray<float>::from((*own)({y}).value())->to_vector().value()[0] == 2);
}

void arrays() {
  const auto cpu = gufunc::Device::find("cpu");
  DEMAND(static_cast<bool>(cpu));
  const auto array = gufunc::TypedArray<double>::alloc({2, 3}, *cpu);
  DEMAND(array && array->fill(2));
  DEMAND(array->reshape({3, 2}).value().shape()[0] == 3);
  DEMAND(array->reshape({7}).error().status() == GUF_E_SHAPE);
  const auto stream = gufunc::Stream::create(*cpu);
  DEMAND(stream->synchronize().value());
  DEMAND(stream->begin_capture().error().status() == GUF_E_UNSUPPORTED);
  const auto event = gufunc::Event::create(*cpu);
  DEMAND(event->record(*stream) && event->wait().value() && event->query().value());
  DEMAND(gufunc::DType::parse("f5").error().status() == GUF_E_DTYPE);
  DEMAND(gufunc::check(guf_dtype_parse, "f4", static_cast<guf_dtype *>(nullptr)).error().status() ==
         GUF_E_ARG);
}

void exchange() {
  const auto array = gufunc::TypedArray<double>::alloc({3});
  DEMAND(array && array->fill(2.5));
  auto tensor = array->to_dlpack();
  DEMAND(tensor && tensor->versioned() != nullptr);
  const auto again = gufunc::TypedArray<double>::from_dlpack(std::move(tensor).value());
  DEMAND(again && again->data() == array->data());
  const auto copy = gufunc::Array::from_dlpack(array->copy_to_dlpack().value());
  DEMAND(copy && copy->address() != array->address());
  const auto other = gufunc::TypedArray<float>::from_dlpack(array->to_dlpack().value());
  DEMAND(!other && other.error().status() == GUF_E_DTYPE);
  DEMAND(!gufunc::TypedArray<float>::from_dlpack({}));
  DEMAND(array->to_dlpack(gufunc::DlpackStream::legacy()).error().status() == GUF_E_ARG);
  DEMAND(gufunc::Array().copy_to_dlpack().error().status() == GUF_E_HANDLE);
}

}  // namespace

int main() {
  calls();
  answers();
  loops();
  arrays();
  exchange();
  return 0;
}
