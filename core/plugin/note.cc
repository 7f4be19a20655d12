// SPDX-License-Identifier: Apache-2.0
// Parses the note of a plugin. The text is from an untrusted file, so its length,
// its characters and every key are checked.
#include "core/plugin/note.h"

#include <gufunc/backend.h>

#include <algorithm>
#include <charconv>

#include "core/base/elf_file.h"
#include "core/plugin/search_path.h"

namespace gufunc::plugin {
namespace {

constexpr uint32_t kBackendNoteType = 0x6201;
constexpr size_t kMaxNoteSize = 512;

guf_status bad_note(std::string_view part, const char *expected, guf_error *error) {
  return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                    "malformed backend note; expected %s, got '%.*s'", expected,
                    static_cast<int>(std::min<size_t>(part.size(), 100)), part.data());
}

bool parse_number(std::string_view text, uint32_t *out) {
  const char *const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, *out);
  return !text.empty() && failure == std::errc() && stop == end;
}

bool is_isa_name(std::string_view text) {
  return !text.empty() && text.size() <= 31 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

// Parses "DEVICE-PINNED-MANAGED", three device types of DLPack; 0 means that there is none.
bool parse_dlpack_types(std::string_view text, backend::DlpackTypes *out) {
  constexpr uint32_t kMaxTypes = 0xFFFF;
  for (int32_t *const type : {&out->device, &out->pinned, &out->managed}) {
    const size_t dash = type == &out->managed ? text.size() : text.find('-');
    uint32_t number = 0;
    if (dash == std::string_view::npos || !parse_number(text.substr(0, dash), &number) ||
        number > kMaxTypes) {
      return false;
    }
    *type = static_cast<int32_t>(number);
    text.remove_prefix(std::min(dash + 1, text.size()));
  }
  return true;
}

enum Key : uint32_t {
  kName = 1,
  kAbi = 2,
  kPriority = 4,
  kIsa = 8,
  kDlpack = 16,
  kRequiredKeys = kName | kAbi | kPriority | kIsa
};

// Parses one "key=value" pair. `*inout_seen` is the set of keys that have occurred so far.
guf_status take_pair(std::string_view pair, uint32_t *inout_seen, BackendNote *out,
                     guf_error *error) {
  const size_t equals = pair.find('=');
  if (equals == std::string_view::npos || equals == 0) return bad_note(pair, "key=value", error);
  const std::string_view key = pair.substr(0, equals);
  const std::string_view value = pair.substr(equals + 1);
  uint32_t bit = 0;
  if (key == "name") {
    bit = kName;
    if (!is_backend_name(value)) return bad_note(pair, "a name of [a-z][a-z0-9_]*", error);
    out->name = value;
  } else if (key == "abi") {
    bit = kAbi;
    const size_t dash = value.find('-');
    if (dash == std::string_view::npos || !parse_number(value.substr(0, dash), &out->abi_low) ||
        !parse_number(value.substr(dash + 1), &out->abi_high) || out->abi_low > out->abi_high) {
      return bad_note(pair, "abi=LOWEST-HIGHEST", error);
    }
  } else if (key == "priority") {
    bit = kPriority;
    if (!parse_number(value, &out->priority)) return bad_note(pair, "a number", error);
  } else if (key == "isa") {
    bit = kIsa;
    if (!is_isa_name(value)) return bad_note(pair, "an ISA such as x86-64-v2", error);
    out->isa = value;
  } else if (key == "dlpack") {
    bit = kDlpack;
    if (!parse_dlpack_types(value, &out->dlpack)) {
      return bad_note(pair, "dlpack=DEVICE-PINNED-MANAGED", error);
    }
  }
  if ((*inout_seen & bit) != 0) return bad_note(pair, "each key once", error);
  *inout_seen |= bit;
  return GUF_OK;
}

bool machine_runs(std::string_view isa) {
#if defined(__x86_64__)
  if (isa == "x86-64") return true;
  if (isa == "x86-64-v2") return __builtin_cpu_supports("x86-64-v2");
  if (isa == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3");
  if (isa == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4");
#elif defined(__aarch64__)
  if (isa == "armv8-a") return true;
#endif
  return false;
}

}  // namespace

guf_status parse_backend_note(std::string_view text, BackendNote *out, guf_error *error) {
  if (text.empty() || text.size() > kMaxNoteSize || text.back() != '\0') {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "malformed backend note; size: expected 1 to %zu, ending in a NUL, got %zu",
                      kMaxNoteSize, text.size());
  }
  text.remove_suffix(1);
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!printable) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "malformed backend note; it is not printable text");
  }
  BackendNote note;
  uint32_t seen = 0;
  const std::string_view whole = text;
  for (;;) {
    const size_t end = text.find(';');
    GUF_TRY(take_pair(text.substr(0, end), &seen, &note, error));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if ((seen & kRequiredKeys) != kRequiredKeys)
    return bad_note(whole, "name, abi, priority and isa", error);
  *out = std::move(note);
  return GUF_OK;
}

guf_status read_backend_note(const char *path, const base::CheckedFile &file, BackendNote *out,
                             guf_error *error) {
  base::MappedBytes mapped;
  GUF_TRY(mapped.map(path, file, error));
  base::ElfFile elf;
  GUF_TRY(base::ElfFile::open(mapped.bytes(), &elf, error));
  base::FileRange range;
  if (!elf.find_note("gufunc", kBackendNoteType, &range)) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "%s is not a gufunc backend; it has no backend note", path);
  }
  const auto text = mapped.bytes().subspan(range.offset, range.size);
  return parse_backend_note({reinterpret_cast<const char *>(text.data()), text.size()}, out, error);
}

guf_status check_backend_note(const BackendNote &note, guf_error *error) {
  if (note.abi_low > GUF_BACKEND_ABI_MINOR) {
    return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                      "backend %s needs a newer libgufunc; plugin ABI: expected %d.%u, got %d.%d",
                      note.name.c_str(), GUF_BACKEND_ABI_MAJOR, note.abi_low, GUF_BACKEND_ABI_MAJOR,
                      GUF_BACKEND_ABI_MINOR);
  }
  if (!machine_runs(note.isa)) {
    return base::fail(error, GUF_E_ABI, base::kNone, base::kNone,
                      "backend %s needs instructions that this machine lacks; expected %s",
                      note.name.c_str(), note.isa.c_str());
  }
  return GUF_OK;
}

}  // namespace gufunc::plugin
