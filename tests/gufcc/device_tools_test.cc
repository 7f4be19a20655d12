// SPDX-License-Identifier: Apache-2.0
// Tests how gufcc finds the tools for device images. If a tool is missing, gufcc omits the targets
// that need it. An explicit path that does not exist is an error. nvcc generates the same entries
// as clang.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gufunc/module_table.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/backend/plain_image.h"
#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kSource[] =
    "#include <gufunc/kernel.hpp>\n"
    "GUF_DEVICE float both(float x, float y) { return x * y + guf::sin(x); }\n"
    "GUF_UFUNC(both, \"ff->f\");\n";

constexpr char kExp[] =
    "#include <gufunc/kernel.hpp>\n"
    "GUF_DEVICE float f(float x) { return guf::exp(x); }\n"
    "GUF_UFUNC(f, \"f->f\");\n";

// Runs tests that need NVIDIA's tools, if the tools are installed.
class DeviceToolsTest : public Gufcc {
 protected:
  static std::string cuda_home() { return GUFUNC_CUDA_HOME; }
  static bool has_nvcc() { return access((cuda_home() + "/bin/nvcc").c_str(), X_OK) == 0; }

  ProcessResult build(const std::string &targets, const Command &more = {}) {
    return build_source(kSource, targets, more);
  }
  ProcessResult build_source(const char *source, const std::string &targets,
                             const Command &more = {}) {
    Command command = {write("k.guf.cpp", source), "-o", path("k.so").string(), "--targets",
                       targets};
    command.insert(command.end(), more.begin(), more.end());
    return run(command);
  }
  std::string failing_build(const std::string &targets, const Command &more) {
    const ProcessResult built = build(targets, more);
    EXPECT_EQ(built.status, 1) << built.output;
    EXPECT_FALSE(fs::exists(path("k.so")));
    return built.output;
  }
  // Returns the module's only device image, decompressed. The table also contains a host image.
  std::string device_image() {
    void *const handle = dlopen(path("k.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return {};
    const auto *const table = static_cast<const guf_module_v1 *>(dlsym(handle, "gufunc_module_v1"));
    std::string bytes;
    for (uint32_t i = 0; i < table->nimages; ++i) {
      backend::PlainImage plain;
      if (table->images[i].format == GUF_IMAGE_HOST) continue;
      EXPECT_EQ(plain.open(table->images[i], nullptr), GUF_OK);
      bytes.assign(static_cast<const char *>(plain.image().data), plain.image().size);
    }
    dlclose(handle);
    return bytes;
  }
};

TEST_F(DeviceToolsTest, AMachineWithoutThemLeavesTheirTargetsOut) {
  // This kernel compiler was built without device targets.
  const std::string compiler = write("clang-of-hosts",
                                     "#!/bin/sh\n[ \"$1\" = --print-targets ] && { echo x86-64; "
                                     "exit; }\nexec clang++-19 \"$@\"\n");
  fs::permissions(compiler, fs::perms::owner_all);
  unsetenv("CUDA_HOME");
  const ProcessResult built = build("x86-64-v2,ptx_75,gfx942", {"--compiler", compiler});
  ASSERT_EQ(built.status, 0) << built.output;
  EXPECT_THAT(built.output, HasSubstr("warning: target ptx_75 is skipped: '" + compiler +
                                      "' has no backend nvptx64\n"));
  EXPECT_THAT(built.output, HasSubstr("warning: target gfx942 is skipped: '" + compiler +
                                      "' has no backend amdgcn\n"));
  EXPECT_EQ(device_image(), "");
}

// Sets PATH to the programs that modules for the cpu need, without ptxas.
class PathWithoutPtxas {
 public:
  explicit PathWithoutPtxas(const fs::path &folder) {
    fs::create_directory(folder);
    for (const char *program : {"clang++-19", "ld", "objcopy"}) {
      std::istringstream folders(before_);
      for (std::string place; std::getline(folders, place, ':');) {
        const fs::path file = fs::path(place) / program;
        if (fs::exists(file) && !fs::exists(folder / program))
          fs::create_symlink(file, folder / program);
      }
    }
    setenv("PATH", folder.c_str(), 1);
  }
  ~PathWithoutPtxas() { setenv("PATH", before_.c_str(), 1); }

 private:
  const std::string before_ = getenv("PATH");
};

TEST_F(DeviceToolsTest, AModuleOfNoTargetIsAnError) {
  unsetenv("CUDA_HOME");
  const PathWithoutPtxas path_of_programs(path("bin"));
  const std::string skipped =
      "gufcc: warning: target sm_90 is skipped: no ptxas: use --ptxas FILE or --cuda-home DIR\n";
  EXPECT_EQ(failing_build("sm_90", {}), skipped +
                                            "gufcc: error: cannot compile for any target "
                                            "of 'sm_90'; see the messages above\n");
  EXPECT_THAT(failing_build("sm_90", {"--object"}), HasSubstr("any target of 'sm_90'"));
  const ProcessResult built = build("x86-64-v2,sm_90");
  ASSERT_EQ(built.status, 0) << built.output;
  EXPECT_EQ(built.output, skipped);
  EXPECT_EQ(device_image(), "");
}

TEST_F(DeviceToolsTest, OnlyVendorMathematicsNeedsLibdevice) {
  if (fs::exists("/usr/lib/nvidia-cuda-toolkit")) GTEST_SKIP() << "libdevice is installed";
  unsetenv("CUDA_HOME");
  const PathWithoutPtxas path_of_programs(path("bin"));
  const ProcessResult own = build_source(kExp, "ptx_75");
  ASSERT_EQ(own.status, 0) << own.output;
  EXPECT_EQ(own.output, "");
  const ProcessResult vendor = build_source(kExp, "x86-64-v2,ptx_75", {"--fp", "vendor"});
  EXPECT_EQ(vendor.status, 0);
  EXPECT_EQ(vendor.output,
            "gufcc: warning: target ptx_75 is skipped: no libdevice.10.bc: use --cuda-home DIR\n");
}

// libdevice computes exp of f32 with an approximate instruction of the GPU.
TEST_F(DeviceToolsTest, VendorFunctionsCallLibdevice) {
  if (cuda_home().empty()) GTEST_SKIP() << "no CUDA toolkit";
  std::vector<Command> compilers = {{}};
  if (has_nvcc()) compilers.push_back({"--cuda-compiler", "nvcc"});
  for (Command options : compilers) {
    options.insert(options.end(), {"--cuda-home", cuda_home(), "--fp"});
    for (const char *mode : {"strict", "fast", "vendor"}) {
      options.emplace_back(mode);
      const ProcessResult built = build_source(kExp, "ptx_75", options);
      options.pop_back();
      ASSERT_EQ(built.status, 0) << built.output;
      EXPECT_EQ(device_image().find("ex2.approx") != std::string::npos,
                std::string_view(mode) != "strict")
          << mode;
    }
  }
}

TEST_F(DeviceToolsTest, TheOptionOfAFunctionOverridesTheCommandLine) {
  if (cuda_home().empty()) GTEST_SKIP() << "no CUDA toolkit";
  std::string source = kExp;
  source.replace(source.find("\"f->f\""), 6, "\"f->f\", \"fp=strict\"");
  const ProcessResult built = build_source(source.c_str(), "ptx_75", {"--fp", "vendor"});
  ASSERT_EQ(built.status, 0) << built.output;
  EXPECT_THAT(device_image(), Not(HasSubstr("ex2.approx")));
  EXPECT_THAT(run({write("k.guf.cpp", kExp), "--list", "--fp", "vendor"}).output,
              HasSubstr("elementwise  f->f   vendor"));
  EXPECT_THAT(run({write("k.guf.cpp", source), "--list", "--fp", "vendor"}).output,
              Not(HasSubstr("vendor")));
}

TEST_F(DeviceToolsTest, VendorFunctionsCallOcml) {
  const auto computes_by_instruction = [&](const char *mode) {
    const ProcessResult built = build_source(kExp, "gfx942", {"--fp", mode});
    EXPECT_EQ(built.status, 0) << built.output;
    write("image", device_image());
    return run_process({"llvm-objdump-19", "-d", path("image").string()})
               .output.find("v_exp_f32") != std::string::npos;
  };
  const ProcessResult built = build_source(kExp, "x86-64-v2,gfx942", {"--fp", "vendor"});
  if (built.output.find("is skipped") != std::string::npos) GTEST_SKIP() << built.output;
  EXPECT_FALSE(computes_by_instruction("strict"));
  EXPECT_TRUE(computes_by_instruction("vendor"));
}

TEST_F(DeviceToolsTest, ToolkitsThatAreGoneAreErrors) {
  const std::string gone = path("gone").string();
  EXPECT_THAT(
      failing_build("x86-64-v2,sm_90", {"--cuda-home", gone}),
      HasSubstr("error: cannot compile for target sm_90: '" + gone + "/bin/ptxas' does not "));
  EXPECT_THAT(failing_build("x86-64-v2,ptx_75", {"--cuda-home", gone}),
              HasSubstr("error: cannot compile for target ptx_75: '" + gone +
                        "' has no nvvm/libdevice/libdevice.10.bc"));
  EXPECT_THAT(failing_build("x86-64-v2,sm_90", {"--ptxas", gone}),
              HasSubstr("error: cannot compile for target sm_90: '" + gone + "' does not run"));
  // PTX images need no ptxas.
  EXPECT_THAT(failing_build("x86-64-v2,ptx_75", {"--ptxas", gone}),
              HasSubstr("error: cannot compile for target ptx_75: '" + gone + "' does not run"));
  EXPECT_THAT(failing_build("x86-64-v2,gfx942", {"--rocm-bitcode", gone}),
              HasSubstr("error: cannot compile for target gfx942: '" + gone + "' has no ocml.bc"));
  EXPECT_THAT(failing_build("x86-64-v2,ptx_75", {"--cuda-compiler", "nvcc", "--cuda-home", gone}),
              HasSubstr("error: cannot compile for target ptx_75: nvcc not found: '" + gone +
                        "/bin/nvcc' does not run"));
  // gufcc does not look up tools that no target needs.
  EXPECT_EQ(build("x86-64-v2", {"--cuda-home", gone, "--rocm-bitcode", gone}).status, 0);
}

TEST_F(DeviceToolsTest, CompilersThatAreNoneAreRefused) {
  const ProcessResult built = build("x86-64-v2,ptx_75", {"--cuda-compiler", "gcc"});
  EXPECT_EQ(built.status, 2);
  EXPECT_THAT(built.output, HasSubstr("--cuda-compiler: gcc not in {clang,nvcc}"));
}

TEST_F(DeviceToolsTest, NvccMakesTheSameEntries) {
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc";
  const Command with_nvcc = {"--cuda-home", cuda_home(), "--cuda-compiler", "nvcc"};
  const ProcessResult built = build("ptx_75", with_nvcc);
  ASSERT_EQ(built.status, 0) << built.output;
  EXPECT_EQ(built.output, "");
  const std::string ptx = device_image();
  EXPECT_THAT(ptx, HasSubstr("NVIDIA NVVM Compiler"));
  EXPECT_THAT(ptx, HasSubstr("\n.target sm_75\n"));
  EXPECT_THAT(ptx, HasSubstr(".visible .entry guf_ew_both_ff_f_row("));
  EXPECT_THAT(ptx, HasSubstr(".visible .entry guf_ew_both_ff_f_nd("));
  EXPECT_THAT(ptx, HasSubstr("mul.rn.f32")) << "no contraction";
  EXPECT_THAT(ptx, Not(HasSubstr(".ftz")));
  const ProcessResult sass = build("sm_90", with_nvcc);
  ASSERT_EQ(sass.status, 0) << sass.output;
  EXPECT_TRUE(
      device_image().starts_with("\x7f"
                                 "ELF"));
}

// The cache key contains the identity of the compiler and not the compiler's path.
TEST_F(DeviceToolsTest, ObjectsOfNvccAreCachedForNvcc) {
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc";
  fs::create_directory_symlink(cuda_home(), path("toolkit"));
  ASSERT_EQ(build("ptx_75", {"--cuda-home", cuda_home(), "--cuda-compiler", "nvcc"}).status, 0);
  const std::string kept = "gufcc: device1_ptx_75 from the cache";
  const ProcessResult again =
      build("ptx_75", {"--cuda-home", path("toolkit").string(), "--cuda-compiler", "nvcc", "-v"});
  EXPECT_THAT(again.output, HasSubstr(kept));
  const ProcessResult other = build("ptx_75", {"--cuda-home", cuda_home(), "-v"});
  EXPECT_EQ(other.status, 0);
  EXPECT_THAT(other.output, Not(HasSubstr(kept)));
}

}  // namespace
}  // namespace gufunc::gufcc
