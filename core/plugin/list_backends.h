// SPDX-License-Identifier: Apache-2.0
// The search for plugins: the folders that are searched, the file names of plugins, and the list of
// backends that is made from them.
#ifndef GUFUNC_CORE_PLUGIN_LIST_BACKENDS_H
#define GUFUNC_CORE_PLUGIN_LIST_BACKENDS_H

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_trust.h"

namespace gufunc::plugin {

// The inputs of the search. An empty string disables a source.
struct SearchSources {
  bool privileged = false;     // AT_SECURE: another user may control the environment
  std::string path;            // GUFUNC_BACKEND_PATH: replaces all sources below
  std::string path_add;        // GUFUNC_BACKEND_PATH_ADD: searched first
  std::string library_folder;  // folder of libgufunc's own file
  std::string plugin_folder;   // a folder set at build time
  std::string conf_folder;     // a folder set at build time, with *.conf files that contain paths
};

// Returns the value of a variable. The result is empty if the variable is unset or the process is
// privileged.
std::string environment(const char *name);

// Determines the sources from the environment, from the location of libgufunc and from the build.
// Errors  GUF_E_IO <= no file descriptor is available;  GUF_E_NO_MEMORY
guf_status process_sources(SearchSources *out, guf_error *error);

struct Candidate {
  std::string path;  // an absolute path
  std::string name;  // backend name from the file name; empty if a .conf file named it
};

// Finds the candidates in order of preference, and sorted by name within a folder. `trust` applies
// to .conf files. Relative and empty folder names are skipped, as are folders and .conf files that
// cannot be read. A lack of memory or descriptors is an error, because an incomplete list would
// otherwise be stored forever. Reads directories and .conf files only. Throws std::bad_alloc.
// Errors  GUF_E_IO <= no file descriptor is available;  GUF_E_NO_MEMORY
guf_status find_candidates(const SearchSources &sources, const base::TrustRule &trust,
                           std::vector<Candidate> *out, guf_error *error);

// Returns whether the name matches [a-z][a-z0-9_]* and has at most 31 characters.
bool is_backend_name(std::string_view name);

struct Record;

// The inputs of the search for plugins. Tests replace the inputs of the process by their own.
struct ListingRules {
  SearchSources sources;
  base::TrustRule trust;
  std::string selection;  // GUFUNC_BACKENDS, such as "cuda,cpu"; if empty, all by priority
  std::string disabled;   // GUFUNC_BACKENDS_DISABLE, a list of globs
};
// Errors  as process_sources
guf_status process_rules(ListingRules *out, guf_error *error);

// Finds, checks, selects and sorts the backends. The caller owns the result.
// Errors  GUF_E_IO <= no file descriptor is available;  GUF_E_NO_MEMORY
guf_status list_backends(const ListingRules &rules, std::vector<std::unique_ptr<Record>> *out,
                         guf_error *error);

}  // namespace gufunc::plugin

#endif  // GUFUNC_CORE_PLUGIN_LIST_BACKENDS_H
