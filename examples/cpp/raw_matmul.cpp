// SPDX-License-Identifier: Apache-2.0
// Launches the raw kernels of a module from C++ and compares their matrix products with the results
// of the library's matmul, for several sizes. Usage: raw_matmul MODULE [cuda:0]
#include <gufunc/gufunc.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

static guf_error error = {};

static void check(guf_status status) {
  if (status == GUF_OK) return;
  std::fprintf(stderr, "%s: %s\n", guf_status_name(status), error.message);
  std::exit(1);
}

// A matrix on the device.
struct Matrix {
  template <class T>
  Matrix(guf_device device, guf_stream stream, const std::vector<T> &values, int64_t rows,
         int64_t columns) {
    const int64_t shape[] = {rows, columns};
    guf_tensor tensor = {};
    tensor.struct_size = sizeof tensor;
    tensor.dtype = sizeof(T) == 4 ? GUF_F32 : GUF_F64;
    tensor.ndim = 2;
    tensor.address = reinterpret_cast<uint64_t>(values.data());
    tensor.shape = shape;
    guf_array host = nullptr;
    check(guf_array_wrap(&tensor, nullptr, nullptr, 0, &host, &error));
    check(guf_array_to_device(host, device, stream, &array, &error));
    check(guf_stream_synchronize(stream, UINT64_MAX, &error));
    guf_array_release(host, nullptr);
  }
  Matrix(const Matrix &) = delete;
  Matrix &operator=(const Matrix &) = delete;
  ~Matrix() { guf_array_release(array, nullptr); }
  guf_operand operand() const { return {GUF_OPERAND_ARRAY, 0, 0, 0, array, nullptr, {0, 0}}; }
  guf_array array = nullptr;
};

// Small integers, whose sums are exact in any order.
template <class T>
static std::vector<T> numbers(int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>((i * 7 + 3) % 11) - 5;
  return values;
}

template <class T>
static std::vector<T> values_of(const Matrix &matrix, int64_t count, guf_stream stream) {
  std::vector<T> values(static_cast<size_t>(count));
  check(guf_array_copy_to_host(matrix.array, values.data(), values.size() * sizeof(T), GUF_ORDER_C,
                               stream, &error));
  check(guf_stream_synchronize(stream, UINT64_MAX, &error));
  return values;
}

template <class T>
static void compare(guf_module module, guf_device device, guf_stream stream, int64_t m, int64_t n,
                    int64_t p) {
  const std::vector<T> nothing(static_cast<size_t>(m * p));
  const Matrix a(device, stream, numbers<T>(m * n), m, n);
  const Matrix b(device, stream, numbers<T>(n * p), n, p);
  const Matrix expected(device, stream, nothing, m, p);
  guf_operand inputs[] = {a.operand(), b.operand()}, output = expected.operand();
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = 2, args.noutputs = 1, args.inputs = inputs, args.outputs = &output;
  args.options.stream = stream;
  guf_ufunc matmul = nullptr;
  check(guf_ufunc_find(nullptr, "matmul", &matmul, &error));
  check(guf_call(matmul, &args, &error));
  guf_ufunc_release(matmul, nullptr);

  std::printf("%s %lld x %lld x %lld:", sizeof(T) == 4 ? "float32" : "float64",
              static_cast<long long>(m), static_cast<long long>(n), static_cast<long long>(p));
  for (const char *variant : {"naive", "tiled"}) {
    const Matrix c(device, stream, nothing, m, p);
    char name[64];
    std::snprintf(name, sizeof name, "matmul_%s_%c", variant, sizeof(T) == 4 ? 'f' : 'd');
    guf_kernel kernel = nullptr;
    check(guf_kernel_find(module, name, &kernel, &error));
    const uint32_t block[] = {16, 16, 1};
    const uint32_t grid[] = {static_cast<uint32_t>((p + 15) / 16),
                             static_cast<uint32_t>((m + 15) / 16), 1};
    const guf_operand arguments[] = {a.operand(), b.operand(), c.operand()};
    check(guf_kernel_launch(kernel, stream, grid, block, 0, 3, arguments, &error));
    const bool equal = values_of<T>(c, m * p, stream) == values_of<T>(expected, m * p, stream);
    std::printf(" %s %s", variant, equal ? "equal" : "DIFFERS");
    guf_kernel_release(kernel, nullptr);
  }
  std::printf("\n");
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: raw_matmul MODULE [DEVICE]\n");
    return 2;
  }
  error.struct_size = sizeof error;
  guf_module module = nullptr;
  guf_device device = nullptr;
  guf_stream stream = nullptr;
  check(guf_module_load(nullptr, argv[1], 0, &module, &error));
  check(guf_device_get(nullptr, argc > 2 ? argv[2] : "cpu", &device, &error));
  check(guf_stream_create(device, 0, &stream, &error));
  for (const auto &[m, n, p] :
       {std::array<int64_t, 3>{1, 1, 1}, {16, 16, 16}, {37, 53, 29}, {64, 1, 33}, {5, 100, 200}}) {
    compare<float>(module, device, stream, m, n, p);
    compare<double>(module, device, stream, m, n, p);
  }
  guf_stream_release(stream, nullptr);
  guf_module_release(module, nullptr);
  return 0;
}
