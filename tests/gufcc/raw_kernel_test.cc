// SPDX-License-Identifier: Apache-2.0
// Tests GUF_KERNEL in gufcc: the content of the module table, the list that gufcc prints, and error
// messages with the lines of invalid kernels.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gufunc/module_table.h>

#include "gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Gufcc, RawKernelsAreInTheTable) {
  const std::string source = write(
      "k.guf.cpp",
      "#include <gufunc/raw_kernel.hpp>\n"
      "GUF_DEVICE void plain(guf::block g, const float *a, guf::view<double, 3> v, guf::c128 z) {\n"
      "  v(0, 0, g.global_id()) = a[0] + z.re;\n"
      "}\n"
      "GUF_KERNEL(plain, \"doc=one line\");\n"
      "template <class T, int N> GUF_DEVICE void waits(guf::block g, T *x) {\n"
      "  g.shared<T>(N)[g.rank()] = x[0];\n"
      "  g.sync();\n"
      "}\n"
      "GUF_KERNEL(waits<int, 3>, \"name=waiting\", \"threads=96\", \"shared=12\");\n");
  ASSERT_EQ(run({source, "-o", path("k.so").string(), "--targets", "host"}).output, "");
  void *const library = dlopen(path("k.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto *const table = static_cast<const guf_module_v1 *>(dlsym(library, "gufunc_module_v1"));
  ASSERT_EQ(table->nfunctions, 0u);
  ASSERT_EQ(table->nraw_kernels, 2u);
  ASSERT_EQ(table->nkernels, 2u);
  const guf_module_kernel &plain = table->raw_kernels[0], &waiting = table->raw_kernels[1];
  EXPECT_STREQ(plain.name, "plain");
  EXPECT_STREQ(plain.symbol, "guf_rk_plain");
  EXPECT_STREQ(plain.doc, "one line");
  EXPECT_EQ(plain.max_threads, 1024u);
  ASSERT_EQ(plain.parameters->count, 3u);
  // The block has the header, a pointer, an address with 3 extents and 3 strides, and two doubles.
  EXPECT_EQ(plain.parameters->block_bytes, sizeof(guf_kernel_head) + 8 * (1 + 7 + 2));
  const guf_module_parameter expected[] = {
      {GUF_PARAMETER_POINTER, GUF_F32, 0, GUF_PARAMETER_READ_ONLY},
      {GUF_PARAMETER_VIEW, GUF_F64, 3, 0},
      {GUF_PARAMETER_NUMBER, GUF_C128, 0, 0}};
  for (int i = 0; i < 3; ++i) {
    const guf_module_parameter &found = plain.parameters->list[i];
    EXPECT_EQ(found.kind, expected[i].kind) << i;
    EXPECT_EQ(found.dtype, expected[i].dtype) << i;
    EXPECT_EQ(found.ndim, expected[i].ndim) << i;
    EXPECT_EQ(found.flags, expected[i].flags) << i;
  }
  EXPECT_STREQ(waiting.name, "waiting");
  EXPECT_EQ(waiting.kernel, 1u);
  EXPECT_EQ(waiting.max_threads, 96u);
  EXPECT_EQ(waiting.shared_bytes, 12u);
  EXPECT_EQ(waiting.flags, static_cast<uint32_t>(GUF_MODULE_KERNEL_SYNCHRONIZES));
  dlclose(library);
  const std::string list = run({source, "--list"}).output;
  EXPECT_THAT(list, HasSubstr("plain    raw kernel  threads<=1024  one line"));
  EXPECT_THAT(list, HasSubstr("waiting  raw kernel  threads<=96"));
}

// Kernels without a barrier in their source need no fibers in the emulation.
TEST_F(Gufcc, OnlySourcesWithBarriersSynchronize) {
  const std::string source =
      write("k.guf.cpp",
            "#include <gufunc/raw_kernel.hpp>\n"
            "GUF_DEVICE void one(guf::block g, int *x) { x[g.rank()] = 1; }\n"
            "GUF_KERNEL(one);\n");
  ASSERT_EQ(run({source, "-o", path("k.so").string(), "--targets", "host"}).output, "");
  void *const library = dlopen(path("k.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto *const table = static_cast<const guf_module_v1 *>(dlsym(library, "gufunc_module_v1"));
  EXPECT_EQ(table->raw_kernels[0].flags, 0u);
  dlclose(library);
}

TEST_F(Gufcc, AWrongKernelPointsAtItsRegistration) {
  const char *rows[][2] = {
      {"GUF_KERNEL(no_block);",
       ":10: error: no_block: expected void (guf::block, ...), got a function of another "
       "type\n"},
      {"GUF_KERNEL(result);",
       ":10: error: result: expected void (guf::block, ...), got a function of another type\n"},
      {"GUF_KERNEL(record);",
       ":10: error: record: parameter 2 after the block is not a number, a pointer to numbers "
       "or a guf::view of at most 8 dimensions\n"},
      {"GUF_KERNEL(pointers);",
       ":10: error: pointers: parameter 1 after the block is not a number, a pointer to numbers "
       "or a guf::view of at most 8 dimensions\n"},
      {"GUF_KERNEL(deep);",
       ":10: error: deep: parameter 1 after the block is not a number, a pointer to numbers or "
       "a guf::view of at most 8 dimensions\n"},
      {"GUF_KERNEL(large);",
       ":10: error: large: its arguments take more than 2048 bytes; pass arrays by pointer or "
       "guf::view\n"},
  };
  std::string many = "GUF_DEVICE void large(guf::block";
  for (int i = 0; i < 17; ++i) many += ", guf::view<float, 8>";
  for (const auto &[registration, message] : rows) {
    const std::string text =
        "#include <gufunc/raw_kernel.hpp>\n"
        "struct Pair { float a, b; };\n"
        "GUF_DEVICE void no_block(float *x) { x[0] = 1; }\n"
        "GUF_DEVICE int result(guf::block, float *x) { return 1; }\n"
        "GUF_DEVICE void record(guf::block, float *x, Pair p) { x[0] = p.a; }\n"
        "GUF_DEVICE void pointers(guf::block, float **x) { x[0][0] = 1; }\n"
        "GUF_DEVICE void deep(guf::block, guf::view<float, 9> x) {}\n" +
        many + ") {}\n\n" + std::string(registration) + "\n";
    const std::string output = failing(text, "all");
    EXPECT_EQ(output, path("bad.guf.cpp").string() + message +
                          "gufcc: error: the kernels do not compile\n");
  }
}

TEST_F(Gufcc, UnsupportedFeaturesOfRawKernelsAreNamed) {
  const auto with = [&](const std::string &body) {
    return failing(
        "#include <gufunc/raw_kernel.hpp>\n"
        "GUF_DEVICE void k(guf::block g, float *x, guf::i16 *s) {\n" +
        body + ";\n}\nGUF_KERNEL(k);\n");
  };
  EXPECT_THAT(with("x[0] = __builtin_sinf(x[1])"), HasSubstr("bad.guf.cpp:3: error: a kernel "
                                                             "cannot use 'sinf'"));
  EXPECT_THAT(with("guf::atomic_add(s, 1)"), HasSubstr("bad.guf.cpp:3"));
  EXPECT_THAT(with("guf::atomic_add(s, 1)"), HasSubstr("atomics accept i32, u32, i64, u64"));
  EXPECT_THAT(with("guf::atomic_min(x, 1.0f)"), HasSubstr("this atomic accepts i32, u32"));
  EXPECT_THAT(with("static int n = 0; x[n++] = 1"), HasSubstr("cannot have the variable"));
  EXPECT_THAT(failing("#include <gufunc/raw_kernel.hpp>\n"
                      "namespace n { GUF_DEVICE void k(guf::block) {}\nGUF_KERNEL(k); }\n"),
              HasSubstr("bad.guf.cpp:3: error: a registration must be outside of namespaces"));
  EXPECT_THAT(failing("#include <gufunc/raw_kernel.hpp>\n"
                      "GUF_DEVICE void k(guf::block) {}\nGUF_KERNEL(k, \"threads=5000\");\n"),
              HasSubstr("bad.guf.cpp:3: error: threads: expected 1 to 1024, got '5000'"));
}

}  // namespace
}  // namespace gufunc::gufcc
