// SPDX-License-Identifier: Apache-2.0
// Tests which image provides a loop: the image with the best score among the images for the
// device's family. If the driver rejects an image, the next best image provides the loop. Each
// image is loaded once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/backend/image_cache.h"
#include "core/op/signature.h"
#include "tests/support/fresh_error.h"

namespace gufunc::backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The targets that the backend loaded, and the targets that it refuses to load.
std::vector<std::string> loaded, refused;
std::vector<std::string> without_code;  // targets whose modules contain no kernel
std::vector<std::string> contents;
int unloaded = 0;

// Scores a target by the digit in its name: "t3" scores 3.
int32_t score(void *, const guf_module_image *image) {
  return image->format == GUF_IMAGE_CUBIN ? image->target[1] - '0' : 0;
}
guf_status load(void *, const guf_module_image *image, void **out, guf_error *error) {
  loaded.emplace_back(image->target);
  for (const std::string &target : refused) {
    if (target == image->target) {
      return base::fail_native(error, GUF_E_NO_IMAGE, base::kNone, base::kNone, 200, "too new: %s",
                               image->target);
    }
  }
  const std::string *const name = &contents.emplace_back(static_cast<const char *>(image->data));
  EXPECT_EQ(name->size(), image->size);
  *out = new std::string(image->target);
  return GUF_OK;
}
void unload(void *module) {
  ++unloaded;
  delete static_cast<std::string *>(module);
}
guf_status get(void *module, uint32_t, const char *, void **out, guf_error *error) {
  const std::string &target = *static_cast<std::string *>(module);
  for (const std::string &bare : without_code) {
    if (bare != target) continue;
    return base::fail_native(error, GUF_E_NO_IMAGE, base::kNone, base::kNone, 218, "no code in %s",
                             target.c_str());
  }
  *out = module;
  return GUF_OK;
}

constexpr guf_dtype kTypes[2][2] = {{GUF_F32, GUF_F32}, {GUF_F64, GUF_F64}};

class ImageChoice : public ::testing::Test {
 protected:
  ImageChoice() {
    loaded.clear();
    refused.clear();
    without_code.clear();
    contents.clear();
    unloaded = 0;
    backend_.api.image_score = score;
    backend_.api.module_load = load;
    backend_.api.module_unload = unload;
    backend_.api.kernel_get = get;
    device_.backend = &backend_;
    device_.spec = "test:0";
    std::strcpy(device_.info.target, "t");
    ufunc_.name = ufunc_.full_name = "f";
    EXPECT_EQ(op::make_elementwise(1, 1, nullptr, 0, &ufunc_.signature, nullptr), GUF_OK);
    retain_images(table_);
    for (size_t i = 0; i < 2; ++i) {
      loops_[i].types = {kTypes[i][0], kTypes[i][1]};
      loops_[i].table = &table_;
      loops_[i].function = &function_;
    }
  }
  ~ImageChoice() override { release_images(table_); }

  std::string target_of(size_t loop) {
    void *kernel = nullptr;
    const guf_status status = load_kernel(ufunc_, loops_[loop], device_, &kernel, &error_);
    return status == GUF_OK ? *static_cast<std::string *>(kernel) : std::to_string(status);
  }
  static guf_module_image image(const char *target, uint64_t offset, uint32_t family) {
    return {GUF_IMAGE_CUBIN, GUF_CODEC_NONE, target, "onetwo", 6, 0, nullptr, offset, 3, family, 0};
  }

  Backend backend_;
  Device device_;
  op::Ufunc ufunc_;
  guf_module_loop entries_[2] = {{kTypes[0], "f_f", 0, GUF_LOOP_NUMPY, 0, 1},
                                 {kTypes[1], "f_d", 1, GUF_LOOP_NUMPY, 0, 2}};
  guf_module_function function_ = {"f", nullptr, nullptr, nullptr, nullptr, 1,        1,
                                   0,   0,       2,       0,       0,       entries_, nullptr};
  guf_module_image images_[4] = {image("t1", 0, 0), image("t3", 0, 1), image("t2", 3, 1),
                                 image("t4", 3, 2)};
  guf_module_v1 table_ = {
      sizeof(guf_module_v1), GUF_KERNEL_ABI, "m", 1, 4, 2, 0, &function_, images_};
  op::Loop loops_[2];
  guf_error error_ = fresh_error();
};

TEST_F(ImageChoice, IsTheBestOfTheLoopsFamily) {
  EXPECT_EQ(target_of(0), "t3");
  EXPECT_EQ(target_of(1), "t4");
  EXPECT_THAT(loaded, ElementsAre("t3", "t4"));
  EXPECT_THAT(contents, ElementsAre("one", "two"));
  EXPECT_EQ(describe_kernel(ufunc_, loops_[1], device_), "kernel image t4, of t1, t4\n");
}

TEST_F(ImageChoice, FallsToTheNextWhereTheDriverRefuses) {
  refused = {"t3", "t4"};
  EXPECT_EQ(target_of(0), "t2");
  EXPECT_EQ(target_of(1), "t1");
  EXPECT_THAT(loaded, ElementsAre("t3", "t2", "t4", "t1"));
  EXPECT_EQ(describe_kernel(ufunc_, loops_[0], device_),
            "kernel image t2, of t1, t3 (refused: too new: t3), t2\n");
  retain_images(table_);
  release_images(table_);
  EXPECT_EQ(unloaded, 0) << "another module has the table";
  release_images(table_);
  EXPECT_EQ(unloaded, 2) << "rejected images were not loaded";
  retain_images(table_);
}

// The driver rejects the PTX of a kernel only when the kernel is requested.
TEST_F(ImageChoice, FallsToTheNextWhereAnImageHasNoCode) {
  without_code = {"t3"};
  EXPECT_EQ(target_of(0), "t2");
  EXPECT_EQ(target_of(1), "t4") << "of another family";
  EXPECT_THAT(loaded, ElementsAre("t3", "t2", "t4"));
}

TEST_F(ImageChoice, NamesTheMissingPartOfTheBestImage) {
  refused = {"t2"};
  without_code = {"t1", "t3"};
  EXPECT_EQ(target_of(0), std::to_string(GUF_E_NO_IMAGE));
  EXPECT_STREQ(error_.message, "no code in t3");
  EXPECT_EQ(error_.native_code, 218);
  EXPECT_THAT(loaded, ElementsAre("t3", "t2", "t1"));
  without_code.clear();
  EXPECT_EQ(target_of(0), "t3") << "an earlier failure is not remembered";
}

TEST_F(ImageChoice, RejectedImageIsLoadedOnce) {
  refused = {"t1", "t2", "t3"};
  EXPECT_EQ(target_of(0), std::to_string(GUF_E_NO_IMAGE));
  const char *const all =
      "t1 (refused: too new: t1), t3 (refused: too new: t3), t2 (refused: too new: t2)";
  EXPECT_THAT(error_.message, HasSubstr(all));
  EXPECT_EQ(error_.native_code, 200);
  EXPECT_EQ(loaded.size(), 3u);
  EXPECT_EQ(target_of(0), std::to_string(GUF_E_NO_IMAGE));
  EXPECT_EQ(loaded.size(), 3u);
  EXPECT_THAT(error_.message, HasSubstr(all));
  EXPECT_EQ(error_.native_code, 200);
}

TEST_F(ImageChoice, IsNoneWhereTheFamilyHasNoImage) {
  entries_[1].family = 9;
  images_[0].family = 1;
  EXPECT_EQ(target_of(1), std::to_string(GUF_E_NO_IMAGE));
  EXPECT_THAT(error_.message, HasSubstr("available images: none"));
}

TEST_F(ImageChoice, NamesEachTargetOnceWhereNoLoopIs) {
  images_[3].target = "t3";
  loops_[0].types = {GUF_I32, GUF_I32};
  EXPECT_EQ(target_of(0), std::to_string(GUF_E_NO_IMAGE));
  EXPECT_THAT(error_.message, HasSubstr("available images: t1, t3, t2"));
}

}  // namespace
}  // namespace gufunc::backend
