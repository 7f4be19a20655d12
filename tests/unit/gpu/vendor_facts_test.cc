// SPDX-License-Identifier: Apache-2.0
// Tests vendor-specific code that needs no driver: error codes and targets.
#include <gtest/gtest.h>
#include <gufunc/module_table.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "backends/cuda/cuda_codes.h"
#include "backends/cuda/cuda_target.h"
#include "backends/roc/hip_codes.h"
#include "backends/roc/roc_target.h"

namespace gufunc {
namespace {

using gpu::ErrorInfo;
using gpu::ErrorKind;

// Returns the names and values of all enumerators in a header whose names match the pattern.
std::map<std::string, int> enumerators(const std::string &path, const std::string &pattern) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const std::string content = text.str();
  std::map<std::string, int> found;
  const std::regex row("\\n\\s*(" + pattern + ")\\s*=\\s*([0-9]+)");
  for (std::sregex_iterator it(content.begin(), content.end(), row), end; it != end; ++it) {
    found[(*it)[1]] = std::stoi((*it)[2]);
  }
  return found;
}

void expect_table_is_sound(std::span<const ErrorInfo> codes) {
  std::set<std::string> names;
  for (size_t i = 0; i < codes.size(); ++i) {
    const ErrorInfo &row = codes[i];
    if (i > 0) {
      EXPECT_LT(codes[i - 1].code, row.code) << row.name;
    }
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    if (row.code == 0) {
      EXPECT_EQ(row.status, GUF_OK);
    } else if (row.kind == ErrorKind::kNotReady) {
      EXPECT_EQ(row.status, GUF_NOT_READY);
    } else {
      EXPECT_GE(row.status, 100) << row.name;
    }
    EXPECT_EQ(ends_device(row.kind), row.status == GUF_E_DEVICE_LOST) << row.name;
    EXPECT_EQ(row.kind == ErrorKind::kNoImage, row.status == GUF_E_NO_IMAGE) << row.name;
  }
}

void expect_all_known(std::span<const ErrorInfo> codes,
                      const std::map<std::string, int> &expected) {
  std::set<int> known;
  for (const ErrorInfo &row : codes) known.insert(row.code);
  for (const auto &[name, number] : expected) {
    EXPECT_TRUE(known.count(number) != 0) << name << " = " << number << " has no meaning";
  }
}

TEST(CudaCodes, EveryCodeHasAnErrorInfo) {
  expect_table_is_sound(cuda::known_codes());
  EXPECT_EQ(cuda::error_info(0).status, GUF_OK);
  EXPECT_EQ(cuda::error_info(2).kind, ErrorKind::kNoMemory);
  EXPECT_EQ(cuda::error_info(34).kind, ErrorKind::kStub);
  EXPECT_EQ(cuda::error_info(700).kind, ErrorKind::kLost);
  EXPECT_EQ(cuda::error_info(901).status, GUF_E_CAPTURE);
  // CUDA 12 drivers return these codes for images that were built with CUDA 13.
  for (const int code : {200, 218, 222, 300}) {
    EXPECT_EQ(cuda::error_info(code).kind, ErrorKind::kNoImage) << code;
  }
  for (const int unheard : {-5, 9, 998, 1000, 70000}) {
    EXPECT_EQ(cuda::error_info(unheard).status, GUF_E_LAUNCH) << unheard;
  }
  const auto expected = enumerators(GUFUNC_TEST_CUDA_HEADER, "CUDA_(?:SUCCESS|ERROR_[A-Z_0-9]+)");
  if (expected.empty()) GTEST_SKIP() << "no cuda.h";
  EXPECT_GE(expected.size(), 95u);
  expect_all_known(cuda::known_codes(), expected);
  for (const auto &[name, number] : expected) EXPECT_EQ(cuda::error_info(number).name, name);
}

TEST(HipCodes, EveryCodeHasAnErrorInfo) {
  expect_table_is_sound(roc::hip_codes());
  EXPECT_EQ(roc::hip_error_info(2).kind, ErrorKind::kNoMemory);
  EXPECT_EQ(roc::hip_error_info(719).kind, ErrorKind::kLost);
  EXPECT_EQ(roc::hip_error_info(209).kind, ErrorKind::kNoImage);
  for (const int unheard : {-1, 10, 1099}) {
    EXPECT_EQ(roc::hip_error_info(unheard).status, GUF_E_LAUNCH) << unheard;
  }
  const auto expected = enumerators(GUFUNC_TEST_HIP_HEADER, "hip(?:Success|Error[A-Za-z]+)");
  if (expected.empty()) GTEST_SKIP() << "no hip_runtime_api.h";
  EXPECT_GE(expected.size(), 70u);
  expect_all_known(roc::hip_codes(), expected);
}

struct Row {
  const char *device;
  int32_t format;
  const char *image;
  bool runs;
};

TEST(CudaTarget, RunsImagesOfItsArchitecture) {
  for (const Row &row : {
           Row{"sm_90", GUF_IMAGE_CUBIN, "sm_90", true},
           Row{"sm_90", GUF_IMAGE_CUBIN, "sm_80", false},
           Row{"sm_86", GUF_IMAGE_CUBIN, "sm_80", true},
           Row{"sm_80", GUF_IMAGE_CUBIN, "sm_86", false},
           Row{"sm_90", GUF_IMAGE_CUBIN, "sm_90a", true},
           Row{"sm_103", GUF_IMAGE_CUBIN, "sm_100", true},
           Row{"sm_103", GUF_IMAGE_CUBIN, "sm_100a", false},
           Row{"sm_103", GUF_IMAGE_CUBIN, "sm_100f", true},
           Row{"sm_120", GUF_IMAGE_CUBIN, "sm_12", false},
           Row{"sm_90", GUF_IMAGE_PTX, "ptx_75", true},
           Row{"sm_90", GUF_IMAGE_PTX, "compute_90", true},
           Row{"sm_75", GUF_IMAGE_PTX, "ptx_80", false},
           Row{"sm_90", GUF_IMAGE_PTX, "ptx_80a", false},
           Row{"sm_90", GUF_IMAGE_PTX, "75", false},
           Row{"sm_90", GUF_IMAGE_CUBIN, "sm_9x", false},
           Row{"sm_90", GUF_IMAGE_CUBIN, "", false},
           Row{"sm_90", GUF_IMAGE_HSACO, "sm_90", false},
           Row{"sm_90", GUF_IMAGE_SPIRV, "ptx_75", false},
           Row{"gfx942", GUF_IMAGE_PTX, "ptx_75", false},
       }) {
    EXPECT_EQ(cuda::score_target(row.device, row.format, row.image) > 0, row.runs)
        << row.device << " and " << row.image;
  }
}

TEST(CudaTarget, MachineCodeComesFirstAndTheNearestOfIt) {
  const auto cubin = [](const char *target) {
    return cuda::score_target("sm_89", GUF_IMAGE_CUBIN, target);
  };
  const auto ptx = [](const char *target) {
    return cuda::score_target("sm_89", GUF_IMAGE_PTX, target);
  };
  EXPECT_GT(cubin("sm_89"), cubin("sm_86"));
  EXPECT_GT(cubin("sm_86"), cubin("sm_80"));
  EXPECT_GT(cubin("sm_80"), ptx("ptx_89"));
  EXPECT_GT(ptx("ptx_89"), ptx("ptx_75"));
}

TEST(RocTarget, RunsItsProcessorWithItsFeatures) {
  constexpr const char *kDevice = "gfx942:sramecc+:xnack-";
  for (const Row &row : {
           Row{kDevice, GUF_IMAGE_HSACO, "gfx942", true},
           Row{kDevice, GUF_IMAGE_HSACO, "gfx942:xnack-", true},
           Row{kDevice, GUF_IMAGE_HSACO, "gfx942:sramecc+:xnack-", true},
           Row{kDevice, GUF_IMAGE_HSACO, "gfx942:xnack-:sramecc+", true},
           Row{kDevice, GUF_IMAGE_HSACO, "gfx942:xnack+", false},
           Row{kDevice, GUF_IMAGE_HSACO, "gfx942:sramecc-", false},
           Row{kDevice, GUF_IMAGE_HSACO, "gfx94", false},
           Row{kDevice, GUF_IMAGE_HSACO, "gfx90a", false},
           Row{kDevice, GUF_IMAGE_HSACO, "gfx9-4-generic", true},
           Row{kDevice, GUF_IMAGE_HSACO, "gfx9-generic", false},
           Row{"gfx906:sramecc+:xnack-", GUF_IMAGE_HSACO, "gfx9-generic", true},
           Row{"gfx908:sramecc+:xnack-", GUF_IMAGE_HSACO, "gfx9-generic", false},
           Row{"gfx1100", GUF_IMAGE_HSACO, "gfx11-generic", true},
           Row{"gfx110", GUF_IMAGE_HSACO, "gfx11-generic", false},
           Row{"gfx1100", GUF_IMAGE_HSACO, "gfx1100:xnack-", false},
           Row{"gfx1100", GUF_IMAGE_CUBIN, "gfx1100", false},
           Row{"gfx1100", GUF_IMAGE_HSACO, "", false},
           Row{"", GUF_IMAGE_HSACO, "", false},
       }) {
    EXPECT_EQ(roc::score_code_object(row.device, row.format, row.image, 70000000) > 0, row.runs)
        << row.device << " and " << row.image;
  }
  const auto score = [&](const char *image) {
    return roc::score_code_object(kDevice, GUF_IMAGE_HSACO, image, 70000000);
  };
  EXPECT_GT(score("gfx942:xnack-"), score("gfx942"));
  EXPECT_GT(score("gfx942"), score("gfx9-4-generic"));
  EXPECT_EQ(roc::score_code_object("gfx1100", GUF_IMAGE_HSACO, "gfx11-generic", 60300000), 0);
}

}  // namespace
}  // namespace gufunc
