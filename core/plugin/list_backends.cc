// SPDX-License-Identifier: Apache-2.0
// Builds the ordered list of backends from folders. Only the absolute folders in SearchSources are
// searched, never the current directory or LD_LIBRARY_PATH. The owner, mode and note of each file
// are checked, but none of its code runs.
#include "core/plugin/list_backends.h"

#include <dirent.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "core/base/log.h"
#include "core/plugin/registry.h"

// Defined by the static cpu backend, if it is linked into the library (GUFUNC_STATIC_CPU).
extern "C" [[gnu::weak]] guf_status gufunc_backend_cpu_open(const guf_host_api *host,
                                                            uint32_t host_minor,
                                                            guf_backend_api *api, guf_error *error);

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

constexpr uint32_t kLinkedInPriority = 10;

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

guf_status judge(const Candidate &candidate, const base::TrustRule &trust, Record *out,
                 guf_error *error) {
  base::CheckedFile file;
  const char *const path = candidate.path.c_str();
  GUF_TRY(base::open_regular(path, &file, error));
  out->identity = file.identity;
  GUF_TRY(base::check_trust(path, file, trust, error));
  BackendNote note;
  GUF_TRY(read_backend_note(path, file, &note, error));
  if (!candidate.name.empty() && note.name != candidate.name) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "%s: its note names backend '%s'", path, note.name.c_str());
  }
  out->name = note.name;
  out->priority = note.priority;
  out->dlpack = note.dlpack;
  out->note = std::move(note);
  return check_backend_note(out->note, error);
}

// Examines one file. A rejected file is listed with the reason, under the backend name in its file
// name.
// Errors  GUF_E_IO <= no file descriptor is available;  GUF_E_NO_MEMORY
guf_status examine(const Candidate &candidate, const base::TrustRule &trust,
                   std::unique_ptr<Record> *out, guf_error *error) {
  auto record = std::make_unique<Record>();
  record->path = candidate.path;
  record->name = candidate.name;
  guf_error details = {};
  details.struct_size = sizeof details;
  const guf_status status = judge(candidate, trust, record.get(), &details);
  if (base::is_shortage(status, details.native_code))
    return base::copy_error(status, details, error);
  if (status != GUF_OK) record->listed = {status, details.native_code, details.message};
  *out = std::move(record);
  return GUF_OK;
}

// Returns whether `a` is preferred to `b`, a backend of the same name that was found
// earlier. A usable backend is preferred to an unusable one, then the higher priority
// decides, and then the order of the search.
bool is_better(const Record &a, const Record &b) {
  const bool a_usable = a.listed.status == GUF_OK, b_usable = b.listed.status == GUF_OK;
  return a_usable != b_usable ? a_usable : a_usable && a.priority > b.priority;
}

void add_unless_worse(std::unique_ptr<Record> record, std::vector<std::unique_ptr<Record>> *list) {
  if (record->name.empty()) {  // a .conf file names a file that is not a plugin
    base::log(base::LogLevel::kWarning, "%s", record->listed.reason.c_str());
    return;
  }
  for (std::unique_ptr<Record> &other : *list) {
    // The file may be known under another name already. Files that could not be opened have no
    // identity.
    if (record->identity.inode != 0 && other->identity == record->identity) return;
    if (other->name != record->name) continue;
    if (is_better(*record, *other)) std::swap(other, record);
    base::log(base::LogLevel::kInformation, "backend %s: %s is used, %s is not",
              other->name.c_str(), other->path.c_str(), record->path.c_str());
    return;
  }
  list->push_back(std::move(record));
}

void add_linked_in(std::vector<std::unique_ptr<Record>> *list) {
  if (gufunc_backend_cpu_open == nullptr) return;
  for (const auto &record : *list) {
    if (record->name == "cpu" && record->listed.status == GUF_OK) return;
  }
  std::erase_if(*list, [](const auto &record) { return record->name == "cpu"; });
  auto record = std::make_unique<Record>();
  record->name = "cpu";
  record->priority = kLinkedInPriority;
  record->note = {"cpu", 0, GUF_BACKEND_ABI_MINOR, kLinkedInPriority, "any"};
  record->linked_in = gufunc_backend_cpu_open;
  list->push_back(std::move(record));
}

// Marks a backend as disabled. The cpu backend cannot be disabled, because host memory belongs to
// it.
void switch_off(Record *record, const char *variable) {
  if (record->name == "cpu") return;
  record->listed = {GUF_E_NO_BACKEND, 0, "backend " + record->name + " is disabled by " + variable};
}

// Logs selected names that no backend has. A name may be misspelled, or its backend may not be
// installed. Neither is an error.
void log_absent(const std::vector<std::string> &selection,
                const std::vector<std::unique_ptr<Record>> &list) {
  for (const std::string &name : selection) {
    const bool found = std::any_of(list.begin(), list.end(),
                                   [&](const auto &record) { return record->name == name; });
    if (!found) {
      base::log(base::LogLevel::kWarning, "GUFUNC_BACKENDS names '%s', which is not installed",
                name.c_str());
    }
  }
}

// Returns the position of a name in the selection, or the size of the selection if it is missing.
size_t place_in(const std::vector<std::string> &selection, const std::string &name) {
  return static_cast<size_t>(std::find(selection.begin(), selection.end(), name) -
                             selection.begin());
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

guf_status process_rules(ListingRules *out, guf_error *error) {
  GUF_TRY(process_sources(&out->sources, error));
  GUF_TRY(base::process_trust(&out->trust, error));
  out->selection = environment("GUFUNC_BACKENDS");
  out->disabled = environment("GUFUNC_BACKENDS_DISABLE");
  return GUF_OK;
}

guf_status list_backends(const ListingRules &rules, std::vector<std::unique_ptr<Record>> *out,
                         guf_error *error) {
  std::vector<Candidate> candidates;
  GUF_TRY(find_candidates(rules.sources, rules.trust, &candidates, error));
  std::vector<std::unique_ptr<Record>> list;
  for (const Candidate &candidate : candidates) {
    std::unique_ptr<Record> record;
    GUF_TRY(examine(candidate, rules.trust, &record, error));
    add_unless_worse(std::move(record), &list);
  }
  add_linked_in(&list);

  const std::vector<std::string> selection = split(rules.selection);
  const std::vector<std::string> globs = split(rules.disabled);
  log_absent(selection, list);
  for (const auto &record : list) {
    if (!selection.empty() && place_in(selection, record->name) == selection.size()) {
      switch_off(record.get(), "GUFUNC_BACKENDS");
    }
    for (const std::string &glob : globs) {
      if (fnmatch(glob.c_str(), record->name.c_str(), 0) == 0) {
        switch_off(record.get(), "GUFUNC_BACKENDS_DISABLE");
      }
    }
  }
  std::sort(list.begin(), list.end(), [&](const auto &a, const auto &b) {
    const size_t place_a = place_in(selection, a->name), place_b = place_in(selection, b->name);
    if (place_a != place_b) return place_a < place_b;
    return a->priority != b->priority ? a->priority > b->priority : a->name < b->name;
  });
  *out = std::move(list);
  return GUF_OK;
}

}  // namespace gufunc::plugin
