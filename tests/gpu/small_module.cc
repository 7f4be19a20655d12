// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/small_module.h"

#include <dlfcn.h>
#include <zstd.h>

#include <cstring>

#include "tests/gpu/gpu_fixture.h"

namespace gufunc::gpu_test {
namespace {

const guf_module_v1 &small_table() {
  static const guf_module_v1 *const table = [] {
    void *const library = dlopen(GUFUNC_TEST_MODULE, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) ADD_FAILURE() << dlerror();
    return static_cast<const guf_module_v1 *>(dlsym(library, "gufunc_module_v1"));
  }();
  return *table;
}

bool is_of_vendor(const guf_module_image &image) {
  if (!is_cuda()) return image.format == GUF_IMAGE_HSACO;
  return image.format == GUF_IMAGE_CUBIN || image.format == GUF_IMAGE_PTX;
}

guf_launch_block f64_block(const std::vector<uint64_t> &addresses, int nin, int64_t items) {
  guf_launch_block block = {};
  block.noperands = static_cast<int32_t>(addresses.size());
  block.nin = nin;
  block.nloop = 1;
  block.flags = GUF_LAUNCH_ANY_THREAD;
  block.items = static_cast<uint64_t>(items);
  block.size[0] = items;
  for (size_t i = 0; i < addresses.size(); ++i) {
    block.address[i] = addresses[i];
    block.step[i] = sizeof(double);
    block.dtype[i] = block.loop_dtype[i] = GUF_F64;
    const bool input = i < static_cast<size_t>(nin);
    block.operand_flags[i] = input ? GUF_LAUNCH_OPERAND_READ : GUF_LAUNCH_OPERAND_WRITTEN;
  }
  return block;
}

}  // namespace

std::string inflated(const guf_module_image &image) {
  const auto *const data = static_cast<const char *>(image.data);
  std::string whole(data, image.size);
  if (image.codec == GUF_CODEC_ZSTD) {
    whole.resize(image.inflated_size);
    const size_t size = ZSTD_decompress(whole.data(), whole.size(), data, image.size);
    EXPECT_EQ(size, image.inflated_size) << image.target;
  }
  return image.bytes == 0 ? whole : whole.substr(image.offset, image.bytes);
}

const std::vector<PlainImage> &small_images() {
  static const std::vector<PlainImage> images = [] {
    std::vector<PlainImage> all;
    const guf_module_v1 &table = small_table();
    for (uint32_t i = 0; i < table.nimages; ++i) {
      if (!is_of_vendor(table.images[i])) continue;
      all.push_back({table.images[i], inflated(table.images[i])});
    }
    for (PlainImage &one : all) {
      one.image.codec = GUF_CODEC_NONE;
      one.image.data = one.bytes.c_str();
      one.image.size = one.image.inflated_size = one.image.bytes = one.bytes.size();
      one.image.offset = 0;
    }
    return all;
  }();
  return images;
}

const guf_module_image *small_image(const std::string &target) {
  for (const PlainImage &one : small_images()) {
    if (target == one.image.target) return &one.image;
  }
  return nullptr;
}

const char *small_stem(const std::string &function) {
  const guf_module_v1 &table = small_table();
  for (uint32_t i = 0; i < table.nfunctions; ++i) {
    if (function == table.functions[i].name) return table.functions[i].loops[0].name;
  }
  ADD_FAILURE() << "the module has no " << function;
  return "";
}

const guf_module_kernel &small_raw_kernel() {
  static const guf_module_kernel none = {};
  const guf_module_v1 &table = small_table();
  EXPECT_EQ(table.nraw_kernels, 1U);
  if (table.nraw_kernels != 1) return none;
  EXPECT_EQ(table.raw_kernels[0].parameters->block_bytes, sizeof(DoubledArguments));
  return table.raw_kernels[0];
}

guf_launch_block row_block(const std::vector<uint64_t> &addresses, int nin, int64_t items) {
  return f64_block(addresses, nin, items);
}

guf_launch_block dot_block(uint64_t a, uint64_t b, uint64_t out, int64_t items, int64_t n) {
  guf_launch_block block = f64_block({a, b, out}, 2, items);
  block.flags |= GUF_LAUNCH_GENERALIZED;
  block.ncore = 1;
  block.ncorestrides = 2;
  block.size[1] = n;
  block.step[0] = block.step[1] = n * static_cast<int64_t>(sizeof(double));
  block.step[3] = block.step[4] = sizeof(double);
  block.core_ndim[0] = block.core_ndim[1] = 1;
  return block;
}

guf_method_block fold_block(int32_t method, uint64_t input, uint64_t output, int64_t n) {
  guf_method_block block = {};
  block.method = method;
  block.flags = GUF_METHOD_ANY_THREAD;
  if (method != GUF_METHOD_AT) block.flags |= GUF_METHOD_TREE;
  block.items = 1;
  if (method != GUF_METHOD_AT) {
    block.nfold = 1;
    block.fold_size[0] = n;
    block.fold_input_step[0] = sizeof(double);
    block.fold_output_step = sizeof(double);
  }
  block.input = input;
  block.output = output;
  block.input_dtype = block.output_dtype = block.loop_dtype = GUF_F64;
  block.input_flags = GUF_LAUNCH_OPERAND_READ;
  block.output_flags = GUF_LAUNCH_OPERAND_WRITTEN;
  return block;
}

guf_backend_launch launch_of(void *kernel, void *stream, const guf_launch_block &block) {
  guf_backend_launch launch = {};
  launch.struct_size = sizeof(launch);
  launch.kernel = kernel;
  launch.stream = stream;
  launch.block = &block;
  return launch;
}

guf_backend_method method_of(void *kernel, void *stream, const guf_method_block &block) {
  guf_backend_method method = {};
  method.struct_size = sizeof(method);
  method.kernel = kernel;
  method.stream = stream;
  method.block = &block;
  return method;
}

}  // namespace gufunc::gpu_test
