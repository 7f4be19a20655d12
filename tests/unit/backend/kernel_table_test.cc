// SPDX-License-Identifier: Apache-2.0
// Tests that a valid kernel table is accepted and that a table with one invalid field is rejected
// with the name of the field.
#include "core/backend/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "tests/support/fresh_error.h"

namespace gufunc::backend {
namespace {

void code() {}

// A table with one elementwise and one generalized function, stored in one struct.
struct Sample {
  guf_dtype types[3] = {GUF_F32, GUF_F32, GUF_F32};
  guf_dtype other_types[3] = {GUF_F64, GUF_F64, GUF_F64};
  int32_t roles[3] = {GUF_ROLE_IN, GUF_ROLE_IN, GUF_ROLE_OUT};
  char name[8] = "sample";
  char signature[16] = "(n),(n)->()";
  void (*entries[2])(void) = {code, code};
  unsigned char data[4] = {1, 2, 3, 4};
  guf_module_loop loops[2] = {{types, "stem_f", 0, GUF_LOOP_NUMPY, 0, 0},
                              {other_types, "stem_d", 1, GUF_LOOP_STATUS, 2, 0}};
  guf_module_function functions[2] = {
      {"add", nullptr, nullptr, nullptr, "doc", 2, 1, GUF_IDENTITY_ZERO, 0, 2, 0, 0, loops},
      {"dot", signature, nullptr, roles, nullptr, 2, 1, 0, GUF_FUNCTION_INPLACE_SAFE, 1, 0, 0,
       loops}};
  guf_module_image images[2] = {
      {GUF_IMAGE_HOST, GUF_CODEC_NONE, "x86-64-v2", nullptr, 0, 0, entries},
      {GUF_IMAGE_CUBIN, GUF_CODEC_ZSTD, "sm_90", data, 4, 9, nullptr, 2, 7, 1, 0}};
  guf_module_parameter parameters[2] = {{GUF_PARAMETER_NUMBER, GUF_C128, 0, 0},
                                        {GUF_PARAMETER_VIEW, GUF_F32, 2, GUF_PARAMETER_READ_ONLY}};
  guf_module_parameters all = {2, sizeof(guf_kernel_head) + 8 * 7, parameters};
  guf_module_kernel raw[2] = {{"raw", "guf_rk_raw", "doc", &all, 1, 1, 256, 64, 1, 0},
                              {"other", "guf_rk_other", nullptr, &all, 0, 0, 1024, 0, 0, 0}};
  guf_module_v1 table = {
      sizeof(guf_module_v1), GUF_KERNEL_ABI, name, 2, 2, 2, 2, functions, images, raw};

  Region whole() const {
    const auto first = reinterpret_cast<uint64_t>(this);
    return {first, first + sizeof *this, false};
  }
};

TEST(KernelTable, AValidTableIsAccepted) {
  const Sample sample;
  guf_error error = fresh_error();
  EXPECT_EQ(check_table(&sample.table, {}, &error), GUF_OK) << error.message;
  EXPECT_EQ(find_function(sample.table, "dot"), &sample.functions[1]);
  EXPECT_EQ(find_function(sample.table, "do"), nullptr);
  const guf_dtype doubles[] = {GUF_F64, GUF_F64, GUF_F64}, mixed[] = {GUF_F64, GUF_F64, GUF_F32};
  EXPECT_EQ(find_loop(sample.functions[0], doubles), &sample.loops[1]);
  EXPECT_EQ(find_loop(sample.functions[0], mixed), nullptr);
}

struct Row {
  const char *name;
  std::function<void(Sample &)> spoil;
  const char *message;
  guf_status status = GUF_E_BAD_FILE;
};

void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

const Row kRows[] = {
    {"Size", [](Sample &s) { s.table.struct_size = 8; }, "struct_size: expected 56, got 8",
     GUF_E_STRUCT},
    {"LargerSize", [](Sample &s) { s.table.struct_size += 8; }, "struct_size", GUF_E_STRUCT},
    {"KernelAbi", [](Sample &s) { s.table.kernel_abi = 2; }, "kernel ABI: expected 1, got 2",
     GUF_E_ABI},
    {"NoName", [](Sample &s) { s.table.name = nullptr; }, "; name: expected"},
    {"EmptyName", [](Sample &s) { s.name[0] = 0; }, "; name: expected"},
    {"OddName", [](Sample &s) { s.name[2] = ':'; }, "; name: expected"},
    {"DigitName", [](Sample &s) { s.name[0] = '1'; }, "; name: expected"},
    {"OlderTableWithRawKernels", [](Sample &s) { s.table.struct_size = kTableWithoutRaw; },
     "at sample; reserved: expected 0"},
    {"NullRawKernels", [](Sample &s) { s.table.raw_kernels = nullptr; },
     "at sample; raw_kernels: expected them"},
    {"HugeRawKernels", [](Sample &s) { s.table.nraw_kernels = UINT32_MAX; },
     "raw_kernels: expected"},
    {"RawName", [](Sample &s) { s.raw[0].name = "1"; }, "a kernel's name"},
    {"SameRawName", [](Sample &s) { s.raw[1].name = "raw"; },
     "raw_kernels: expected each name once"},
    {"RawSymbol", [](Sample &s) { s.raw[0].symbol = "a b"; }, "at raw; a kernel's symbol"},
    {"NullRawSymbol", [](Sample &s) { s.raw[0].symbol = nullptr; }, "a kernel's symbol"},
    {"RawIndex", [](Sample &s) { s.raw[1].kernel = 2; },
     "at other; a kernel's index: expected less"},
    {"RawThreads", [](Sample &s) { s.raw[0].max_threads = 0; }, "a kernel's max_threads"},
    {"RawManyThreads", [](Sample &s) { s.raw[0].max_threads = 1025; }, "a kernel's max_threads"},
    {"RawShared", [](Sample &s) { s.raw[0].shared_bytes = UINT32_MAX; }, "a kernel's shared_bytes"},
    {"RawFlags", [](Sample &s) { s.raw[0].flags = 2; }, "a kernel's flags"},
    {"RawReserved", [](Sample &s) { s.raw[0].reserved = 1; }, "a kernel's flags and reserved"},
    {"NullParameters", [](Sample &s) { s.raw[0].parameters = nullptr; }, "a kernel's parameters"},
    {"HugeParameters", [](Sample &s) { s.all.count = UINT32_MAX; }, "a kernel's parameters"},
    {"NullParameterList", [](Sample &s) { s.all.list = nullptr; }, "a kernel's parameters"},
    {"ParameterKind", [](Sample &s) { s.parameters[0].kind = 4; }, "a parameter's kind"},
    {"ParameterDtype", [](Sample &s) { s.parameters[0].dtype = 5; }, "a parameter's dtype"},
    {"ParameterDims", [](Sample &s) { s.parameters[1].ndim = 9; }, "a parameter's ndim"},
    {"NumberWithDims", [](Sample &s) { s.parameters[0].ndim = 1; }, "a parameter's ndim"},
    {"ParameterFlags", [](Sample &s) { s.parameters[0].flags = 1; }, "a parameter's flags"},
    {"BlockBytes", [](Sample &s) { s.all.block_bytes += 8; }, "a kernel's block_bytes"},
    {"NoFunctions", [](Sample &s) { s.table.nfunctions = s.table.nraw_kernels = 0; },
     "nfunctions: expected 1 to"},
    {"HugeFunctions", [](Sample &s) { s.table.nfunctions = UINT32_MAX; }, "nfunctions: expected"},
    {"NullFunctions", [](Sample &s) { s.table.functions = nullptr; }, "functions: expected"},
    {"HugeKernels", [](Sample &s) { s.table.nkernels = UINT32_MAX; }, "nkernels: expected"},
    {"HugeImages", [](Sample &s) { s.table.nimages = UINT32_MAX; }, "nimages: expected"},
    {"NullImages", [](Sample &s) { s.table.images = nullptr; }, "images: expected"},
    {"FunctionName", [](Sample &s) { s.functions[1].name = "a b"; }, "a function's name"},
    {"SameName", [](Sample &s) { s.functions[1].name = "add"; },
     "functions: expected each name once"},
    {"NegativeNin", [](Sample &s) { s.functions[0].nin = -1; }, "nin and nout"},
    {"HugeNout", [](Sample &s) { s.functions[0].nout = INT32_MAX; }, "nin and nout"},
    {"NoOperands", [](Sample &s) { s.functions[0].nin = s.functions[0].nout = 0; },
     "nin and nout: expected 1 to 32"},
    {"OtherNin",
     [](Sample &s) {
       s.functions[1].nin = 1;
       s.functions[1].nout = 2;
     },
     "at dot; "},
    {"Identity", [](Sample &s) { s.functions[0].identity = 6; }, "identity"},
    {"Flags", [](Sample &s) { s.functions[0].flags = 1u << 31; }, "flags"},
    {"OverwritesElements", [](Sample &s) { s.functions[0].flags = GUF_FUNCTION_OVERWRITES; },
     "flags: expected GUF_FUNCTION_OVERWRITES only if"},
    {"OverwritesInout",
     [](Sample &s) {
       s.functions[1].flags = GUF_FUNCTION_OVERWRITES;
       s.functions[1].nin = 3;
       s.functions[1].nout = 0;
       std::strcpy(s.signature, "(n),(n),()");
       s.roles[0] = GUF_ROLE_INOUT;
       s.roles[2] = GUF_ROLE_IN;
     },
     "flags: expected GUF_FUNCTION_OVERWRITES only if"},
    {"FunctionMerge", [](Sample &s) { s.functions[0].merge = 9; }, "at add; merge"},
    {"FunctionFinish", [](Sample &s) { s.functions[0].finish = 1; }, "at add; merge"},
    {"FunctionIsNoBlockFunction", [](Sample &s) { s.functions[0].merge = 1; },
     "at add; merge and finish"},
    {"Signature", [](Sample &s) { s.signature[1] = '('; },
     "at dot; expect dimension name or non-zero frozen size at position 1 in \"(()"},
    {"Roles", [](Sample &s) { s.roles[0] = 7; }, "at dot; role 7 of operand 0 is not a guf_role"},
    {"Rules", [](Sample &s) { s.functions[1].rules = "k=1"; },
     "at dot; 'k' is not a dimension of the signature, which has n at position 0 in \"k=1\""},
    {"RulesAlone", [](Sample &s) { s.functions[0].rules = "n=1"; }, "rules: expected none without"},
    {"NoLoops", [](Sample &s) { s.functions[0].nloops = 0; }, "nloops"},
    {"HugeLoops", [](Sample &s) { s.functions[0].nloops = UINT32_MAX; }, "nloops"},
    {"NullLoops", [](Sample &s) { s.functions[0].loops = nullptr; }, "loops: expected them"},
    {"SameLoops", [](Sample &s) { s.loops[1].types = s.types; }, "loops: expected different"},
    {"Types", [](Sample &s) { s.types[1] = 77; }, "a loop's types"},
    {"NullTypes", [](Sample &s) { s.loops[0].types = nullptr; }, "a loop's types"},
    {"Kernel", [](Sample &s) { s.loops[0].kernel = 2; }, "a loop's kernel: expected less"},
    {"Fold", [](Sample &s) { s.loops[1].fold = 3; }, "a loop's fold: expected 0, or 1 + an index"},
    {"HugeFold", [](Sample &s) { s.loops[1].fold = UINT32_MAX; }, "a loop's fold"},
    {"FoldOfOtherTypes", [](Sample &s) { s.other_types[0] = GUF_I32; },
     "a loop's fold: expected 0 where the loop is not"},
    {"FoldOfGeneralized", [](Sample &s) { s.loops[0].fold = 1; },
     "at dot; a loop's fold: expected 0 where"},
    {"Kind", [](Sample &s) { s.loops[0].kind = 3; }, "a loop's kind"},
    {"LoopName", [](Sample &s) { s.loops[0].name = ""; }, "a loop's name"},
    {"NullLoopName", [](Sample &s) { s.loops[0].name = nullptr; }, "a loop's name"},
    {"Target", [](Sample &s) { s.images[0].target = nullptr; }, "an image's target"},
    {"OddTarget", [](Sample &s) { s.images[0].target = "a\n"; }, "an image's target"},
    {"Format", [](Sample &s) { s.images[0].format = 0; }, "an image's format"},
    {"Codec", [](Sample &s) { s.images[1].codec = 2; }, "an image's codec"},
    {"NullEntries", [](Sample &s) { s.images[0].entries = nullptr; }, "entries: expected one"},
    {"NullEntry", [](Sample &s) { s.entries[1] = nullptr; }, "an entry"},
    {"NullData", [](Sample &s) { s.images[1].data = nullptr; }, "an image's data"},
    {"NoData", [](Sample &s) { s.images[1].size = 0; }, "an image's data"},
    {"HugeData", [](Sample &s) { s.images[1].size = UINT64_MAX; }, "an image's data"},
    {"Inflated", [](Sample &s) { s.images[1].inflated_size = UINT64_MAX; }, "inflated size"},
    {"InflatedTooMuch", [](Sample &s) { s.images[1].inflated_size = (1u << 28) + 1; },
     "inflated size"},
    {"ImageReserved", [](Sample &s) { s.images[1].reserved = 1; }, "an image's reserved"},
    {"Offset", [](Sample &s) { s.images[1].offset = 3; }, "an image's offset and bytes"},
    {"HugeOffset", [](Sample &s) { s.images[1].offset = UINT64_MAX; }, "offset and bytes"},
    {"HugeBytes", [](Sample &s) { s.images[1].bytes = UINT64_MAX - 1; }, "offset and bytes"},
    {"OffsetAlone", [](Sample &s) { s.images[1].bytes = 0; }, "offset and bytes"},
    {"BytesOfPlain",
     [](Sample &s) {
       s.images[1].codec = GUF_CODEC_NONE;
       s.images[1].inflated_size = 0;
       s.images[1].offset = 1;
       s.images[1].bytes = 4;
     },
     "offset and bytes"},
    {"InflatedPlain", [](Sample &s) { s.images[1].codec = 0; }, "inflated size"},
};

class SpoiledTable : public ::testing::TestWithParam<Row> {};

TEST_P(SpoiledTable, IsRefused) {
  Sample sample;
  GetParam().spoil(sample);
  guf_error error = fresh_error();
  EXPECT_EQ(check_table(&sample.table, {}, &error), GetParam().status);
  EXPECT_THAT(error.message, ::testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Rows, SpoiledTable, ::testing::ValuesIn(kRows),
                         [](const auto &row) { return std::string(row.param.name); });

// Modules that were built before raw kernels existed have a shorter table.
TEST(KernelTable, AShorterTableHasNoRawKernels) {
  Sample sample;
  EXPECT_EQ(raw_kernels_of(sample.table).size(), 2u);
  sample.table.struct_size = kTableWithoutRaw;
  sample.table.nraw_kernels = 0;
  EXPECT_EQ(check_table(&sample.table, {}, nullptr), GUF_OK);
  EXPECT_EQ(raw_kernels_of(sample.table).size(), 0u);
}

TEST(KernelTable, RawKernelsAloneMakeAModule) {
  Sample sample;
  sample.table.nfunctions = 0;
  sample.table.functions = nullptr;
  EXPECT_EQ(check_table(&sample.table, {}, nullptr), GUF_OK);
}

TEST(KernelTable, NullIsNoTable) {
  EXPECT_EQ(check_table(nullptr, {}, nullptr), GUF_E_BAD_FILE);
}

// The table of a file may point only into the file. In this test, the texts and the code are
// outside the file.
TEST(KernelTable, TextsMustEndInside) {
  struct {
    guf_module_v1 table;
    char name[4];
  } buffer = {
      {sizeof(guf_module_v1), GUF_KERNEL_ABI, buffer.name, 0, 0, 0, 0, nullptr, nullptr, nullptr},
      {'o', 'p', 'e', 'n'}};
  const auto first = reinterpret_cast<uint64_t>(&buffer);
  const Region regions[] = {{first, first + offsetof(decltype(buffer), name) + 4, false}};
  EXPECT_EQ(check_table(&buffer.table, {regions, false}, nullptr), GUF_E_BAD_FILE);
}

TEST(KernelTable, PointersMustStayInside) {
  Sample sample;
  guf_error error = fresh_error();
  const Region regions[] = {sample.whole()};
  EXPECT_EQ(check_table(&sample.table, {regions, false}, &error), GUF_E_BAD_FILE);
  EXPECT_THAT(error.message, ::testing::HasSubstr("a function's name"));
  const Region elsewhere[] = {{16, 32, false}};
  EXPECT_EQ(check_table(&sample.table, {elsewhere, false}, &error), GUF_E_BAD_FILE);
  EXPECT_THAT(error.message, ::testing::HasSubstr("table: expected an address inside the file"));
}

}  // namespace
}  // namespace gufunc::backend
