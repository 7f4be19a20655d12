/* SPDX-License-Identifier: Apache-2.0
 * A small module whose validation could take long, because the rows of its tables share texts and
 * loops. The macro MANY_<KIND> selects the kind of row. The test signs the file. */
#include <gufunc/module_table.h>

#define TEXT_16 "abcdefghijklmnop"
#define TEXT_64 TEXT_16 TEXT_16 TEXT_16 TEXT_16
#define TEXT_256 TEXT_64 TEXT_64 TEXT_64 TEXT_64
#define TEXT_1024 TEXT_256 TEXT_256 TEXT_256 TEXT_256
#define LONG_TEXT TEXT_1024 TEXT_1024 TEXT_1024 TEXT_256 TEXT_256 TEXT_256
#define BLANKS_16 "                "
#define BLANKS_64 BLANKS_16 BLANKS_16 BLANKS_16 BLANKS_16
#define BLANKS_256 BLANKS_64 BLANKS_64 BLANKS_64 BLANKS_64
#define BLANKS_1024 BLANKS_256 BLANKS_256 BLANKS_256 BLANKS_256

/* 512 loops, one for each combination of eight dtypes of the three inputs. The output is int8. */
#define LOOP(a, b, c) {(const guf_dtype[]){a, b, c, GUF_I8}, LONG_TEXT, 0, GUF_LOOP_NUMPY, 0, 0},
/* clang-format changes these macros in every run. */
/* clang-format off */
#define LOOPS_OF_TWO(a, b)                                                    \
  LOOP(a, b, GUF_I8) LOOP(a, b, GUF_I16) LOOP(a, b, GUF_I32) LOOP(a, b, GUF_I64) \
  LOOP(a, b, GUF_U8) LOOP(a, b, GUF_U16) LOOP(a, b, GUF_U32) LOOP(a, b, GUF_U64)
#define LOOPS_OF_ONE(a)                                                       \
  LOOPS_OF_TWO(a, GUF_I8) LOOPS_OF_TWO(a, GUF_I16) LOOPS_OF_TWO(a, GUF_I32)   \
  LOOPS_OF_TWO(a, GUF_I64) LOOPS_OF_TWO(a, GUF_U8) LOOPS_OF_TWO(a, GUF_U16)   \
  LOOPS_OF_TWO(a, GUF_U32) LOOPS_OF_TWO(a, GUF_U64)
/* clang-format on */

__attribute__((section(".note.gufunc.module"), used, aligned(4))) static const struct {
  uint32_t owner_size, descriptor_size, type;
  char owner[8];
  uint32_t version, kernel_abi;
  uint8_t digest[32];
} note = {7, 40, 0x6D01, "gufunc", 1, GUF_KERNEL_ABI, {0}};

#if defined(MANY_KERNELS)
static const guf_module_parameters parameters = {0, sizeof(guf_kernel_head) + 8, NULL};
static const guf_module_kernel kernels[40000] = {
    [0 ... 39999] = {"kernel", LONG_TEXT, LONG_TEXT, &parameters, 0, 0, 1, 0, 0, 0}};
GUF_API extern const guf_module_v1 gufunc_module_v1;
const guf_module_v1 gufunc_module_v1 = {
    sizeof(guf_module_v1), GUF_KERNEL_ABI, "many", 0, 0, 1, 40000, NULL, NULL, kernels};
#else
static const guf_module_loop loops[] = {
    LOOPS_OF_ONE(GUF_I8) LOOPS_OF_ONE(GUF_I16) LOOPS_OF_ONE(GUF_I32) LOOPS_OF_ONE(GUF_I64)
        LOOPS_OF_ONE(GUF_U8) LOOPS_OF_ONE(GUF_U16) LOOPS_OF_ONE(GUF_U32) LOOPS_OF_ONE(GUF_U64)};
#if defined(MANY_RULES)
#define SIGNATURE "(n),(n),(n)->(" BLANKS_1024 BLANKS_1024 BLANKS_1024 ")"
#define NLOOPS 1
#else
#define SIGNATURE NULL
#define NLOOPS 512
#endif
static const guf_module_function functions[16384] = {
    [0 ... 16383] = {"function", SIGNATURE, NULL, NULL, LONG_TEXT, 3, 1, GUF_IDENTITY_NONE, 0,
                     NLOOPS, 0, 0, loops, NULL}};
GUF_API extern const guf_module_v1 gufunc_module_v1;
const guf_module_v1 gufunc_module_v1 = {
    sizeof(guf_module_v1), GUF_KERNEL_ABI, "many", 16384, 0, 1, 0, functions, NULL, NULL};
#endif
