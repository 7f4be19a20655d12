/* SPDX-License-Identifier: Apache-2.0
 * A handwritten module with content that gufcc never writes: a device image of three bytes, a
 * constructor that ends the process, or a table with a wrong field. The test signs the file. */
#include <gufunc/module_table.h>

#include <stdlib.h>

#ifndef HAND_ANSWER
#define HAND_ANSWER 1
#endif
/* The table with these flags contains pointers, so the dynamic linker relocates it and its page
 * becomes private to the process. Later changes of the file do not affect the flags. */
#define HAND_FLAGS (HAND_ANSWER == 2 ? GUF_FUNCTION_COMMUTATIVE : 0)
#ifndef HAND_NAME
#define HAND_NAME "hand"
#endif
#ifndef HAND_KERNEL_ABI
#define HAND_KERNEL_ABI GUF_KERNEL_ABI
#endif

__attribute__((section(".note.gufunc.module"), used, aligned(4))) static const struct {
  uint32_t owner_size, descriptor_size, type;
  char owner[8];
  uint32_t version, kernel_abi;
  uint8_t digest[32];
} note = {7, 40, 0x6D01, "gufunc", 1, HAND_KERNEL_ABI, {0}};

#ifdef HAND_HOSTILE
__attribute__((constructor)) static void be_hostile(void) {
  _Exit(66);
}
#endif

__attribute__((unused)) static void answer(char **args, const int64_t *dims, const int64_t *steps,
                                           void *user) {
  (void)user;
  for (int64_t i = 0; i < dims[0]; ++i) *(int32_t *)(void *)(args[0] + i * steps[0]) = HAND_ANSWER;
}

static const guf_dtype types[] = {GUF_I32};
static const guf_module_loop loops[] = {{types, "answer_i", 0, GUF_LOOP_NUMPY}};
__attribute__((unused)) static const guf_module_function functions[] = {
    {"answer", NULL, NULL, NULL, "the answer", 0, 1, GUF_IDENTITY_NONE, HAND_FLAGS, 1, 0, 0,
     loops}};
static const unsigned char device_code[] = {1, 2, 3};
#ifdef HAND_STRAY_ENTRY
static const int no_code = 0; /* not a function */
#define HAND_ENTRY ((void (*)(void))(uintptr_t)&no_code)
static void (*entries[1])(void);
__attribute__((constructor)) static void set_entries(void) {
  entries[0] = HAND_ENTRY;
}
#else
static void (*const entries[])(void) = {(void (*)(void))answer};
#endif
__attribute__((unused)) static const guf_module_image images[] = {
    {GUF_IMAGE_HOST, GUF_CODEC_NONE, "any", NULL, 0, 0, (void (*const *)(void))entries},
    {GUF_IMAGE_CUBIN, GUF_CODEC_NONE, "sm_90", device_code, sizeof device_code, 0, NULL}};

#ifndef HAND_NO_TABLE
GUF_API extern const guf_module_v1 gufunc_module_v1;
const guf_module_v1 gufunc_module_v1 = {
    sizeof(guf_module_v1), HAND_KERNEL_ABI, HAND_NAME, 1, 2, 1, 0, functions, images};
#endif
