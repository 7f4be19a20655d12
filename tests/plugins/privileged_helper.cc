// SPDX-License-Identifier: Apache-2.0
// A program to which the test gives privileges. The program prints the results of calls in a
// privileged process, one result per line.
#include <cstdio>
#include <cstdlib>

#include "core/module/module.h"
#include "core/plugin/list_backends.h"
#include "core/plugin/registry.h"

using namespace gufunc::plugin;

int main(int argc, char **argv) {
  std::printf("privileged %d\n", gufunc::base::process_is_privileged() ? 1 : 0);
  std::printf("path '%s'\n", environment("GUFUNC_BACKEND_PATH").c_str());
  std::printf("add '%s'\n", environment("GUFUNC_BACKEND_PATH_ADD").c_str());
  ListingRules rules;
  if (process_rules(&rules, nullptr) != GUF_OK) std::_Exit(1);
  std::printf("selection '%s'\n", rules.selection.c_str());
  const char *const value = host_services().config(nullptr, "GUFUNC_NULL");
  std::printf("config '%s'\n", value == nullptr ? "" : value);
  std::printf("folder '%s'\n", rules.sources.library_folder.c_str());
  std::span<Record *const> all;
  if (backends(&all, nullptr) != GUF_OK) std::_Exit(1);
  for (const Record *record : all) {
    std::printf("backend %s %d\n", record->name.c_str(), record->listed.status);
  }
  if (argc > 1) std::printf("load %d\n", load_backend(argv[1], nullptr));
  for (int i = 2; i < argc; ++i) {
    gufunc::base::Ref<gufunc::module::Module> module;
    std::printf("module %d\n", gufunc::module::open_module(argv[i], 0, &module, nullptr));
  }
  // A leak checker cannot inspect a privileged process and would report a failure.
  std::fflush(stdout);
  std::_Exit(0);
}
