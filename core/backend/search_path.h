// SPDX-License-Identifier: Apache-2.0
// Where plugins may lie, and which files there are plugins by their name.
#ifndef GUFUNC_CORE_BACKEND_SEARCH_PATH_H
#define GUFUNC_CORE_BACKEND_SEARCH_PATH_H

#include <string>
#include <string_view>
#include <vector>

#include "core/backend/file_trust.h"

namespace gufunc::backend {

// What the search starts from. An empty text: that source does not exist.
struct SearchSources {
  bool privileged = false;     // AT_SECURE: the environment is the caller's, not ours
  std::string path;            // GUFUNC_BACKEND_PATH: replaces everything below
  std::string path_add;        // GUFUNC_BACKEND_PATH_ADD: searched first
  std::string library_folder;  // where libgufunc's own file lies
  std::string plugin_folder;   // compiled in
  std::string conf_folder;     // compiled in: *.conf files with one absolute path per line
};

// Value of a variable; empty when it is unset or the process is privileged.
std::string environment(const char *name);

// The environment, libgufunc's own place, and what was compiled in.
SearchSources process_sources();

// Why no plugin is found beside the library: what to append to a message. Empty where /proc, in
// which the library finds its own file and opens plugins, can be read.
std::string missing_proc();

// By the effective user and group, and the owner and group of libgufunc's file.
TrustRule process_trust();

// True when the kernel marked the process as privileged: setuid, setgid, file capabilities.
bool process_is_privileged();

struct Candidate {
  std::string path;  // absolute
  std::string name;  // of the backend, by the file's name; empty when the file was named by a .conf
};

// In the order of preference. Relative and empty elements are left out; within a folder sorted by
// name. Reads directories and .conf files only.  Throws std::bad_alloc.
std::vector<Candidate> find_candidates(const SearchSources &sources);

// [a-z][a-z0-9_]*, at most 31 characters.
bool is_backend_name(std::string_view name);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_SEARCH_PATH_H
