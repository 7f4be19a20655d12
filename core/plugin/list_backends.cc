// SPDX-License-Identifier: Apache-2.0
// Builds the ordered list of backends from folders. The owner, mode and note of each file are
// checked, but none of its code runs.
#include <fnmatch.h>

#include <algorithm>

#include "core/base/log.h"
#include "core/plugin/registry.h"

// Defined by the static cpu backend, if it is linked into the library (GUFUNC_STATIC_CPU).
extern "C" [[gnu::weak]] guf_status gufunc_backend_cpu_open(const guf_host_api *host,
                                                            uint32_t host_minor,
                                                            guf_backend_api *api, guf_error *error);

namespace gufunc::plugin {
namespace {

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
