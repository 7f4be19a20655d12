// SPDX-License-Identifier: Apache-2.0
// gufcc: compiles kernel sources into a module.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "build.h"
#include "core/base/utf8.h"

namespace {

using gufunc::gufcc::FpMode;
using gufunc::gufcc::kFpModes;
using gufunc::gufcc::Options;

// Exit status 2 means an invalid command line, as in the tool gufunc. 1 means any other failure.
constexpr int kExitFailed = 1, kExitUsage = 2;

constexpr int kMaxJobs = 1024;  // one thread per job

void describe_device_tools(CLI::App *app, Options *options) {
  app->add_option("--ptxas", options->ptxas, "NVIDIA's assembler [the CUDA toolkit's]");
  app->add_option("--cuda-home", options->cuda_home, "CUDA toolkit, for ptxas and libdevice")
      ->envname("CUDA_HOME");
  app->add_option_function<std::string>(
         "--cuda-compiler",
         [options](const std::string &compiler) { options->nvcc = compiler == "nvcc"; },
         "Compiler that generates PTX: clang, or nvcc, whose PTX needs a driver as new as the CUDA "
         "toolkit [clang]")
      ->check(CLI::IsMember({"clang", "nvcc"}));
  app->add_option("--rocm-bitcode", options->rocm_bitcode,
                  "Folder of AMD's device libraries (ocml.bc)");
  app->add_option_function<std::string>(
         "--compress", [options](const std::string &codec) { options->compress = codec == "zstd"; },
         "Compression of device images: zstd or none [zstd]")
      ->check(CLI::IsMember({"zstd", "none"}));
  app->add_option(
      "--emulate", options->emulate,
      "Also write the device entries, compiled for this machine, to a shared object for "
      "simulated devices");
  app->add_option("--emulate-asan", options->emulate_asan,
                  "Like --emulate, instrumented with AddressSanitizer (-fsanitize=address); the "
                  "program that loads the file must contain the runtime");
}

void describe(CLI::App *app, Options *options) {
  app->add_option("sources", options->sources, "Kernel sources (.guf.cpp)")->required();
  app->add_option("-o,--output", options->output, "Module file to write");
  app->add_option("--name", options->name, "Name of the module [the name of the output file]");
  app->add_option("--targets", options->targets,
                  "Targets to compile for: host, all, or a list such as x86-64-v2,x86-64-v3")
      ->capture_default_str();
  app->add_flag("--object", options->object,
                "Write an object file to link into a program, instead of a shared object");
  app->add_flag("--list", options->list, "Print the functions of the sources and write nothing");
  app->add_option(
      "--check", options->checks,
      "Only compile the sources, and write nothing, for a list of: nvptx64, amdgcn, opencl, "
      "gcc");
  app->add_flag("--no-rules", options->no_rules,
                "Do not check the rules of backends for which nothing is compiled");
  app->add_option_function<std::string>(
         "--fp",
         [options](const std::string &mode) {
           const auto *const known = std::find(kFpModes.begin(), kFpModes.end(), mode);
           options->fp = static_cast<FpMode>(known - kFpModes.begin());
         },
         "The default of functions without fp=. strict: round every operation; vendor: on devices, "
         "call the vendor's mathematical functions; fast: the same, and allow contraction (fma) "
         "[strict]")
      ->check(CLI::IsMember(std::vector<std::string>(kFpModes.begin(), kFpModes.end())));
  app->add_flag("-g", options->debug,
                "Add debugging information to the cpu's code, and allow it to call printf");
  app->add_option("-I", options->include_dirs, "Folder for #include")->allow_extra_args(false);
  app->add_option("-D", options->definitions, "Macro: NAME or NAME=VALUE")->allow_extra_args(false);
  app->add_option("--depfile", options->depfile,
                  "Write the dependencies of the module to this file, for make and ninja");
  app->add_option("--cache-dir", options->cache_dir,
                  "Folder for compiled objects [~/.cache/gufunc/gufcc]")
      ->envname("GUFUNC_CACHE_DIR");
  app->add_flag("--no-cache", options->no_cache, "Do not use compiled objects of earlier runs");
  app->add_flag("--keep", options->keep, "Keep intermediate files");
  app->add_option("-j,--jobs", options->jobs, "Number of parallel compilations [one per processor]")
      ->check(CLI::Range(1, kMaxJobs));
  app->add_option("--compiler", options->compiler, "Kernel compiler [clang++-19]");
  describe_device_tools(app, options);
  app->add_flag("-v,--verbose", options->verbose, "Print the commands");
}

// Prints a text. Escapes control characters except line feeds, because names of files and sources
// may contain control characters.
void print(std::FILE *to, const std::string &text) {
  std::fputs(gufunc::base::printable(text, gufunc::base::LineFeeds::kKeep).c_str(), to);
}

// Returns false if the output could not be written, for example to a full disk.
bool flush_output() {
  std::cout.flush();
  if (std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  std::fprintf(stderr, "gufcc: error: cannot write to standard output: %s\n", std::strerror(errno));
  return false;
}

int run(int argc, char **argv) {
  CLI::App app("Compiles kernels written with <gufunc/kernel.hpp> into a module of libgufunc.",
               "gufcc");
  app.set_version_flag("--version", "gufcc " GUFUNC_VERSION);
  app.footer("Exit codes: 0 success, 1 failure of a source, target, tool or file, 2 usage error.");
  Options options;
  describe(&app, &options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() != 0) {
      print(stderr,
            gufunc::base::printable(error.what()) + "\nRun with --help for more information.\n");
      return kExitUsage;
    }
    app.exit(error);  // prints the help or the version
    return flush_output() ? 0 : kExitFailed;
  }

  // Until here, the handler that install() sets ends the program if memory runs out: streams ignore
  // std::bad_alloc, and --help would print an incomplete text. From here on, operator new throws
  // std::bad_alloc, which is caught.
  std::set_new_handler(nullptr);
  gufunc::gufcc::Diagnostics diagnostics;
  gufunc::gufcc::Build build(options, &diagnostics);
  const bool good = build.run();
  print(stderr, diagnostics.text());
  print(stdout, build.listing());
  if (!flush_output()) return kExitFailed;
  if (good && !diagnostics.failed()) return 0;
  return diagnostics.usage() ? kExitUsage : kExitFailed;
}

// Reports memory exhaustion where no handler can catch it (before main or in a destructor). The
// program exits with a status instead of calling std::terminate.
[[noreturn]] void end_out_of_memory() {
  constexpr char kText[] = "gufcc: error: out of memory\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  ::_exit(1);
}

void end_uncaught() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc &) {
    end_out_of_memory();
  } catch (...) {
    std::abort();
  }
  std::abort();
}

// Runs before the initializers of all libraries.
void install() {
  std::set_new_handler(end_out_of_memory);
  std::set_terminate(end_uncaught);
}

__attribute__((section(".preinit_array"), used)) void (*const kInstaller)() = install;

}  // namespace

int main(int argc, char **argv) {
  // Writing a file beyond RLIMIT_FSIZE is an error instead of a signal, in gufcc and in the
  // compilers that it runs.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc &) {
    std::fputs("gufcc: error: out of memory\n", stderr);
    return kExitFailed;
  } catch (const std::exception &failure) {
    print(stderr, fmt::format("gufcc: error: {}\n", failure.what()));
    return kExitFailed;
  }
}
