// SPDX-License-Identifier: Apache-2.0
// The search for plugins. Only the absolute folders in SearchSources are searched, never the
// current directory or LD_LIBRARY_PATH.
#include "core/plugin/list_backends.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "core/base/log.h"

namespace gufunc::plugin {
namespace {

constexpr std::string_view kPrefix = "libgufunc_backend_";
constexpr std::string_view kSuffix = ".so";
constexpr uint64_t kMaxConfSize = 64 * 1024;

struct CloseFolder {
  void operator()(DIR *folder) const { closedir(folder); }
};

// Reports a folder that could not be read for lack of memory or descriptors. Other reasons are no
// error, because most folders of the search do not exist.
guf_status check_folder_code(const std::string &folder, int code, guf_error *error) {
  const guf_status status = base::status_of_errno(code);
  if (!base::is_shortage(status, code)) return GUF_OK;
  return base::fail_native(error, status, base::kNone, base::kNone, code,
                           "cannot search %s for plugins: %s", folder.c_str(), std::strerror(code));
}

// Finds the sorted names in a folder that begin with the prefix and end with the suffix.
guf_status sorted_names(const std::string &folder, std::string_view prefix, std::string_view suffix,
                        std::vector<std::string> *out, guf_error *error) {
  const std::unique_ptr<DIR, CloseFolder> open_folder(opendir(folder.c_str()));
  if (open_folder == nullptr) return check_folder_code(folder, errno, error);
  for (;;) {
    errno = 0;
    const dirent *const entry = readdir(open_folder.get());
    if (entry == nullptr) break;
    const std::string_view name(entry->d_name);
    if (name.size() > prefix.size() + suffix.size() && name.starts_with(prefix) &&
        name.ends_with(suffix)) {
      out->emplace_back(name);
    }
  }
  GUF_TRY(check_folder_code(folder, errno, error));
  std::sort(out->begin(), out->end());
  return GUF_OK;
}

guf_status add_folder(const std::string &folder, std::vector<Candidate> *out, guf_error *error) {
  if (folder.empty()) return GUF_OK;
  if (folder[0] != '/') {
    base::log(base::LogLevel::kWarning, "no plugins are looked for in '%s', a relative path",
              folder.c_str());
    return GUF_OK;
  }
  std::vector<std::string> names;
  GUF_TRY(sorted_names(folder, kPrefix, kSuffix, &names, error));
  for (const std::string &file : names) {
    std::string name = file.substr(kPrefix.size(), file.size() - kPrefix.size() - kSuffix.size());
    if (is_backend_name(name)) out->push_back({folder + "/" + file, std::move(name)});
  }
  return GUF_OK;
}

// Parses a list of folders such as "a:b:c", in the syntax of PATH.
guf_status add_folder_list(std::string_view list, std::vector<Candidate> *out, guf_error *error) {
  for (;;) {
    const size_t end = list.find(':');
    GUF_TRY(add_folder(std::string(list.substr(0, end)), out, error));
    if (end == std::string_view::npos) return GUF_OK;
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

// Adds the paths in a .conf file. The file names code to run, so it must satisfy the same trust
// rules as a plugin.
guf_status add_conf_file(const std::string &path, const base::TrustRule &trust,
                         std::vector<Candidate> *out, guf_error *error) {
  base::CheckedFile file;
  base::MappedBytes mapped;
  GUF_TRY(base::open_regular(path.c_str(), &file, error));
  GUF_TRY(base::check_trust(path.c_str(), file, trust, error));
  GUF_TRY(mapped.map(path.c_str(), file, error));
  const auto bytes = mapped.bytes().first(std::min(mapped.bytes().size(), kMaxConfSize));
  add_conf_lines({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, out);
  return GUF_OK;
}

// Adds the paths in the .conf files of a folder.
guf_status add_conf_folder(const std::string &folder, const base::TrustRule &trust,
                           std::vector<Candidate> *out, guf_error *error) {
  if (folder.empty() || folder[0] != '/') return GUF_OK;
  std::vector<std::string> names;
  GUF_TRY(sorted_names(folder, "", ".conf", &names, error));
  for (const std::string &name : names) {
    guf_error details = {};
    details.struct_size = sizeof details;
    const guf_status status = add_conf_file(folder + "/" + name, trust, out, &details);
    if (status == GUF_OK) continue;
    if (base::is_shortage(status, details.native_code))
      return base::copy_error(status, details, error);
    base::log(base::LogLevel::kWarning, "%s", details.message);
  }
  return GUF_OK;
}

}  // namespace

std::string environment(const char *name) {
  const char *const value = secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

guf_status process_sources(SearchSources *out, guf_error *error) {
  std::string file;
  GUF_TRY(base::library_file(&file, error));
  SearchSources sources;
  sources.privileged = base::process_is_privileged();
  sources.path = environment("GUFUNC_BACKEND_PATH");
  sources.path_add = environment("GUFUNC_BACKEND_PATH_ADD");
  sources.library_folder = file.substr(0, file.find_last_of('/'));
  sources.plugin_folder = GUFUNC_PLUGIN_DIR;
  sources.conf_folder = GUFUNC_CONF_DIR;
  *out = std::move(sources);
  return GUF_OK;
}

guf_status find_candidates(const SearchSources &sources, const base::TrustRule &trust,
                           std::vector<Candidate> *out, guf_error *error) {
  if (!sources.privileged) {
    if (!sources.path.empty()) return add_folder_list(sources.path, out, error);
    GUF_TRY(add_folder_list(sources.path_add, out, error));
  }
  if (!sources.library_folder.empty()) {
    GUF_TRY(add_folder(sources.library_folder + "/" GUFUNC_PLUGIN_SUBDIR, out, error));
  }
  GUF_TRY(add_folder(sources.plugin_folder, out, error));
  return add_conf_folder(sources.conf_folder, trust, out, error);
}

bool is_backend_name(std::string_view name) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= 31 && is_lower(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace gufunc::plugin
