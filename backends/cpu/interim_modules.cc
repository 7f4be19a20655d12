// SPDX-License-Identifier: Apache-2.0
// Stands in for the tables of backends/kernels where gufcc is not built: add of f32 and f64, no casts.
#include "backends/cpu/builtin_modules.h"

namespace {

template <class T>
void add(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    *reinterpret_cast<T *>(args[2] + i * steps[2]) =
        *reinterpret_cast<const T *>(args[0] + i * steps[0]) +
        *reinterpret_cast<const T *>(args[1] + i * steps[1]);
  }
}

constexpr guf_dtype kFloats[] = {GUF_F32, GUF_F32, GUF_F32};
constexpr guf_dtype kDoubles[] = {GUF_F64, GUF_F64, GUF_F64};
constexpr guf_module_loop kLoops[] = {{kFloats, "guf_ew_add_ff_f", 0, GUF_LOOP_NUMPY},
                                      {kDoubles, "guf_ew_add_dd_d", 1, GUF_LOOP_NUMPY}};
constexpr guf_module_function kFunctions[] = {
    {"add", nullptr, nullptr, nullptr, "x + y", 2, 1, GUF_IDENTITY_ZERO, 0, 2, 0, kLoops, nullptr}};
void (*const kEntries[])(void) = {reinterpret_cast<void (*)(void)>(add<float>),
                                  reinterpret_cast<void (*)(void)>(add<double>)};
const guf_module_image kImages[] = {
    {GUF_IMAGE_HOST, GUF_CODEC_NONE, "x86-64", nullptr, 0, 0, kEntries}};

}  // namespace

extern "C" {
const guf_module_v1 gufunc_module_v1_std = {
    sizeof(guf_module_v1), GUF_KERNEL_ABI, "std", 1, 1, 2, 0, kFunctions, kImages};
const guf_module_v1 gufunc_module_v1_cast = {
    sizeof(guf_module_v1), GUF_KERNEL_ABI, "cast", 0, 0, 0, 0, nullptr, nullptr};
}
