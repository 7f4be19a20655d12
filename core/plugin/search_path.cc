// SPDX-License-Identifier: Apache-2.0
// The search for plugins. Only the absolute folders in SearchSources are searched, never the
// current directory or LD_LIBRARY_PATH.
#include "core/plugin/search_path.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "core/base/log.h"

namespace gufunc::plugin {
namespace {

constexpr std::string_view kPrefix = "libgufunc_backend_";
constexpr std::string_view kSuffix = ".so";
constexpr uint64_t kMaxConfSize = 64 * 1024;

struct CloseFolder {
  void operator()(DIR *folder) const { closedir(folder); }
};

// Returns the sorted names in a folder that begin with the prefix and end with the suffix.
std::vector<std::string> sorted_names(const std::string &folder, std::string_view prefix,
                                      std::string_view suffix) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> open_folder(opendir(folder.c_str()));
  // Without the exception, an incomplete list would be stored forever.
  if (open_folder == nullptr && errno == ENOMEM) throw std::bad_alloc();
  if (open_folder == nullptr) return names;
  while (const dirent *const entry = readdir(open_folder.get())) {
    const std::string_view name(entry->d_name);
    if (name.size() > prefix.size() + suffix.size() && name.starts_with(prefix) &&
        name.ends_with(suffix)) {
      names.emplace_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void add_folder(const std::string &folder, std::vector<Candidate> *out) {
  if (folder.empty()) return;
  if (folder[0] != '/') {
    base::log(base::LogLevel::kWarning, "no plugins are looked for in '%s', a relative path",
              folder.c_str());
    return;
  }
  for (const std::string &file : sorted_names(folder, kPrefix, kSuffix)) {
    std::string name = file.substr(kPrefix.size(), file.size() - kPrefix.size() - kSuffix.size());
    if (is_backend_name(name)) out->push_back({folder + "/" + file, std::move(name)});
  }
}

// Parses a list of folders such as "a:b:c", in the syntax of PATH.
void add_folder_list(std::string_view list, std::vector<Candidate> *out) {
  for (;;) {
    const size_t end = list.find(':');
    add_folder(std::string(list.substr(0, end)), out);
    if (end == std::string_view::npos) return;
    list.remove_prefix(end + 1);
  }
}

// Parses one absolute path per line. '#' begins a comment. Surrounding spaces are ignored.
void add_conf_lines(std::string_view text, std::vector<Candidate> *out) {
  constexpr std::string_view kSpace = " \t\r";
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t first = line.find_first_not_of(kSpace);
    if (first == std::string_view::npos || line[first] != '/') continue;
    line = line.substr(first, line.find_last_not_of(kSpace) + 1 - first);
    if (line.find('\0') == std::string_view::npos) out->push_back({std::string(line), {}});
  }
}

// Adds the paths in the .conf files of a folder. A .conf file names code to run, so it must satisfy
// the same trust rules as a plugin.
void add_conf_folder(const std::string &folder, const base::TrustRule &trust,
                     std::vector<Candidate> *out) {
  if (folder.empty() || folder[0] != '/') return;
  for (const std::string &name : sorted_names(folder, "", ".conf")) {
    const std::string path = folder + "/" + name;
    guf_error error = {};
    error.struct_size = sizeof error;
    base::CheckedFile file;
    base::MappedBytes mapped;
    if (base::open_regular(path.c_str(), &file, &error) != GUF_OK ||
        base::check_trust(path.c_str(), file, trust, &error) != GUF_OK ||
        mapped.map(path.c_str(), file, &error) != GUF_OK) {
      base::log(base::LogLevel::kWarning, "%s", error.message);
      continue;
    }
    const auto bytes = mapped.bytes().first(std::min(mapped.bytes().size(), kMaxConfSize));
    add_conf_lines({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, out);
  }
}

}  // namespace

std::string environment(const char *name) {
  const char *const value = secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

SearchSources process_sources() {
  SearchSources sources;
  sources.privileged = base::process_is_privileged();
  sources.path = environment("GUFUNC_BACKEND_PATH");
  sources.path_add = environment("GUFUNC_BACKEND_PATH_ADD");
  const std::string file = base::library_file();
  sources.library_folder = file.substr(0, file.find_last_of('/'));
  sources.plugin_folder = GUFUNC_PLUGIN_DIR;
  sources.conf_folder = GUFUNC_CONF_DIR;
  return sources;
}

std::vector<Candidate> find_candidates(const SearchSources &sources) {
  std::vector<Candidate> found;
  if (!sources.privileged) {
    if (!sources.path.empty()) {
      add_folder_list(sources.path, &found);
      return found;
    }
    add_folder_list(sources.path_add, &found);
  }
  if (!sources.library_folder.empty()) {
    add_folder(sources.library_folder + "/" GUFUNC_PLUGIN_SUBDIR, &found);
  }
  add_folder(sources.plugin_folder, &found);
  add_conf_folder(sources.conf_folder, base::process_trust(), &found);
  return found;
}

bool is_backend_name(std::string_view name) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= 31 && is_lower(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace gufunc::plugin
