// SPDX-License-Identifier: Apache-2.0
// Tests the inspection of images. It must report each kind of fault that a test seeds in the output
// of llvm-readelf and ptxas and in PTX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/images/image_files.h"
#include "tests/images/inspection.h"

namespace gufunc::images {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kPtx[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n\n"
    "\t// .globl\tguf_ew_add_ff_f_row\n"
    ".func  (.param .b64 func_retval0) __internal_pow\n(\n\t.param .b64 __internal_pow_param_0\n)\n"
    ";\n"
    ".extern .shared .align 16 .b8 guf_shared[];\n"
    ".visible .entry guf_ew_add_ff_f_row(\n"
    "\t.param .align 8 .b8 guf_ew_add_ff_f_row_param_0[272]\n"
    ")\n.maxntid 256, 1, 1\n{\n"
    "\t.reg .f32 \t%f<9>;\n"
    "%LOCAL%"
    "\tld.param.u64 \t%rd1, [guf_ew_add_ff_f_row_param_0];\n"
    "\tadd.s64 \t%rd2, %rd1, 4;\n"
    "$L__BB0_1:\n"
    "\t@%p1 bra \t$L__BB0_1;\n"
    "%OP%"
    "\tst.global.f32 \t[%rd2], %f1;\n"
    "\tret;\n"
    "\t{ // callseq 0, 0\n\t}\n"
    "}\n";

std::vector<PtxFunction> ptx_with(const std::string &instruction, const std::string &local = "") {
  std::string text = kPtx;
  text.replace(text.find("%OP%"), 4, instruction);
  text.replace(text.find("%LOCAL%"), 7, local);
  return read_ptx(text);
}

std::vector<std::string> faults_of(const std::string &instruction, bool may_fuse = false,
                                   const std::string &local = "") {
  const std::vector<PtxFunction> all = ptx_with(instruction, local);
  EXPECT_EQ(all.size(), 1u);
  return find_ptx_faults(all.at(0), may_fuse);
}

TEST(PtxRules, ReadFunctions) {
  const std::vector<PtxFunction> all = ptx_with("\tadd.rn.f32 \t%f1, %f2, %f3;\n");
  ASSERT_EQ(all.size(), 1u) << "declarations are none";
  EXPECT_EQ(all[0].name, "guf_ew_add_ff_f_row");
  EXPECT_TRUE(all[0].is_entry);
  EXPECT_EQ(all[0].parameter_bytes, 272u);
  EXPECT_EQ(all[0].local_bytes, 0u);
  EXPECT_EQ(all[0].instructions.size(), 6u);
}

TEST(PtxRules, LetExactOperationsPass) {
  EXPECT_THAT(faults_of("\tadd.rn.f32 \t%f1, %f2, %f3;\n\tdiv.rn.f64 \t%fd1, %fd2, %fd3;\n"
                        "\tsqrt.rn.f32 \t%f1, %f2;\n\tsub.s32 \t%r1, %r2, %r3;\n"
                        "\tcvt.rn.f32.f64 \t%f1, %fd1;\n\tneg.f32 \t%f1, %f2;\n"),
              IsEmpty());
}

TEST(PtxRules, FindEachFault) {
  for (const char *instruction :
       {"add.f32 \t%f1, %f2, %f3;", "mul.f64 \t%f1, %f2, %f3;", "sub.rz.f32 \t%f1, %f2, %f3;",
        "div.full.f32 \t%f1, %f2, %f3;", "sqrt.approx.f32 \t%f1, %f2;",
        "add.rn.ftz.f32 \t%f1, %f2, %f3;", "fma.rn.f32 \t%f1, %f2, %f3, %f4;",
        "ex2.approx.f32 \t%f1, %f2;", "setp.gt.ftz.f32 \t%p1, %f1, %f2;",
        "@%p2 mul.f32 \t%f1, %f2, %f3;"}) {
    EXPECT_THAT(faults_of(std::string("\t") + instruction + "\n"),
                ElementsAre("guf_ew_add_ff_f_row: " + std::string(instruction)));
  }
  EXPECT_EQ(faults_of("", false, "\t.local .align 8 .b8 \t__local_depot0[272];\n").size(), 1u);
  EXPECT_THAT(faults_of("", false, "\t.local .align 8 .b8 \t__local_depot0[40];\n"), IsEmpty());
}

TEST(PtxRules, LetFunctionsFuse) {
  EXPECT_THAT(faults_of("\tfma.rn.f32 \t%f1, %f2, %f3, %f4;\n", true), IsEmpty());
  for (const char *instruction :
       {"fma.rn.ftz.f32 \t%f1, %f2, %f3, %f4;", "fma.rm.f32 \t%f1, %f2, %f3, %f4;",
        "rcp.approx.ftz.f64 \t%fd1, %fd2;", "mul.f64 \t%fd1, %fd2, %fd3;"}) {
    EXPECT_EQ(faults_of(std::string("\t") + instruction + "\n", true).size(), 1u) << instruction;
  }
}

constexpr char kPtxasOutput[] =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'guf_ew_add_ff_f_row' for 'sm_90'\n"
    "ptxas info    : Function properties for guf_ew_add_ff_f_row\n"
    "    %d bytes stack frame, %d bytes spill stores, %d bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 0 barriers, 624 bytes cmem[0]\n"
    "ptxas info    : Function properties for __internal_pow\n"
    "    64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";

std::vector<std::string> ptxas_faults(const char *name, int stack, int stores, int loads) {
  char text[1000];
  std::snprintf(text, sizeof text, kPtxasOutput, stack, stores, loads);
  std::vector<PtxasLine> lines = read_ptxas(text);
  EXPECT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines.at(0).is_entry);
  EXPECT_FALSE(lines.at(1).is_entry);
  lines[0].name = name;
  std::vector<std::string> faults = find_ptxas_faults(lines[0]);
  EXPECT_THAT(find_ptxas_faults(lines[1]), IsEmpty());
  return faults;
}

TEST(Ptxas, FindsStackAndSpills) {
  EXPECT_THAT(ptxas_faults("guf_ew_add_ff_f_row", 0, 0, 0), IsEmpty());
  EXPECT_EQ(ptxas_faults("guf_ew_add_ff_f_row", 8, 0, 0).size(), 1u);
  EXPECT_EQ(ptxas_faults("guf_ew_add_ff_f_row", 0, 4, 0).size(), 1u);
  EXPECT_EQ(ptxas_faults("guf_ew_add_ff_f_row", 0, 0, 4).size(), 1u);
  EXPECT_EQ(ptxas_faults("guf_ew_maximum_hh_h_row", 24, 0, 0).size(), 1u);
  EXPECT_THAT(ptxas_faults("guf_ew_add_ff_f_nd", 400, 9, 9), IsEmpty());
}

constexpr char kNotes[] =
    "amdhsa.kernels:\n"
    "  - .agpr_count:     0\n"
    "    .args:\n"
    "      - .offset:         0\n"
    "        .size:           272\n"
    "    .group_segment_fixed_size: 0\n"
    "    .kernarg_segment_size: 272\n"
    "    .max_flat_workgroup_size: 256\n"
    "    .name:           guf_ew_add_ff_f_row\n"
    "    .private_segment_fixed_size: 0\n"
    "    .sgpr_spill_count: 0\n"
    "    .uses_dynamic_stack: false\n"
    "    .vgpr_spill_count: 0\n"
    "amdhsa.target:   'amdgcn-amd-amdhsa--gfx942'\n";

std::vector<std::string> amd_faults(const char *found, const char *seeded) {
  std::string text = kNotes;
  text.replace(text.find(found), std::string(found).size(), seeded);
  const std::vector<AmdKernel> kernels = read_amd_notes(text);
  EXPECT_EQ(kernels.size(), 1u);
  const guf::device::emulated_kernel known = {"guf_ew_add_ff_f_row", nullptr, 272, 256, 0, 0};
  return find_amd_faults(kernels.at(0), known);
}

TEST(AmdNotes, FindEachFault) {
  EXPECT_THAT(amd_faults(".agpr_count:     0", ".agpr_count:     1"), IsEmpty());
  const char *const seeded[][2] = {
      {"kernarg_segment_size: 272", "kernarg_segment_size: 528"},
      {"workgroup_size: 256", "workgroup_size: 1024"},
      {"group_segment_fixed_size: 0", "group_segment_fixed_size: 65537"},
      {"private_segment_fixed_size: 0", "private_segment_fixed_size: 16"},
      {"sgpr_spill_count: 0", "sgpr_spill_count: 2"},
      {"vgpr_spill_count: 0", "vgpr_spill_count: 2"},
      {"dynamic_stack: false", "dynamic_stack: true"}};
  for (const auto &[found, other] : seeded) EXPECT_EQ(amd_faults(found, other).size(), 1u) << other;
}

TEST(AmdSymbols, HaveADescriptorOfEachKernel) {
  const std::string whole =
      "   Num:    Value          Size Type    Bind   Vis       Ndx Name\n"
      "     1: 0000000000001c00  1524 FUNC    GLOBAL PROTECTED   8 guf_ew_add_ff_f_row\n"
      "     2: 0000000000000a40    64 OBJECT  GLOBAL PROTECTED   6 guf_ew_add_ff_f_row.kd\n";
  EXPECT_TRUE(has_descriptor(whole, "guf_ew_add_ff_f_row"));
  EXPECT_FALSE(has_descriptor(whole, "guf_ew_add_ff_f_nd"));
  EXPECT_FALSE(has_descriptor(whole, "add_ff_f_row")) << "the whole name";
  for (const char *other : {"32 OBJECT", "64 FUNC  "}) {
    std::string seeded = whole;
    seeded.replace(seeded.find("64 OBJECT"), 9, other);
    EXPECT_FALSE(has_descriptor(seeded, "guf_ew_add_ff_f_row")) << other;
  }
}

TEST(MayFuse, IsTrueForFunctionsAndSumsOfTwoNumbers) {
  for (const char *function : {"_ZN3guf3sinEf", "_ZN3guf5atan2Edd", "guf_ew_log_F_F_nd",
                               "guf_ew_power_DD_D_scan", "guf_ew_logaddexp_dd_d_row"}) {
    EXPECT_TRUE(may_fuse(function)) << function;
  }
  for (const char *function :
       {"guf_ew_sin_f_f_row", "guf_ew_log_d_d_nd", "guf_ew_add_FF_F_row", "guf_copy_convert",
        "_ZN3guf6device6recastEjjNS0_11raw_elementE", "_ZN3guf3sinENS_4bf16E", "_ZN3guf3addEff",
        "_ZN3guf", "_ZN3guf99sinEf", "_ZN8standard3sinEf"}) {
    EXPECT_FALSE(may_fuse(function)) << function;
  }
}

TEST(FunctionOf, IsTheName) {
  EXPECT_EQ(function_of("guf_ew_floor_divide_ff_f_row"), "floor_divide");
  EXPECT_EQ(function_of("guf_gu_matmul_dd_d_block"), "matmul");
  EXPECT_EQ(function_of("guf_copy_elements4"), "guf_copy_elements4");
}

}  // namespace
}  // namespace gufunc::images
