// SPDX-License-Identifier: Apache-2.0
#include "misuse_module.h"

#include <cstring>

namespace misuse {

void add_loop(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    double x = 0, y = 0;
    std::memcpy(&x, args[0] + i * steps[0], sizeof x);
    std::memcpy(&y, args[1] + i * steps[1], sizeof y);
    x += y;
    std::memcpy(args[2] + i * steps[2], &x, sizeof x);
  }
}

namespace {

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

}  // namespace

const guf_dtype kFloatTypes[3] = {GUF_F32, GUF_F32, GUF_F32};
const guf_module_v1 kMisuseTable = make_table("misuse");
const guf_module_v1 kOtherMisuseTable = make_table("misuse_too");

}  // namespace misuse
