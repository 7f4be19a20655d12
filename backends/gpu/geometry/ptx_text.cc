// SPDX-License-Identifier: Apache-2.0
// A PTX module is a head followed by items, which are declarations and definitions with one
// name each. The body of an item is scanned only if the item is needed, and only for names.
// If a local name is equal to the name of an item, an excerpt becomes longer, but stays correct.
#include "backends/gpu/geometry/ptx_text.h"

#include <cstring>
#include <initializer_list>

namespace gufunc::gpu {
namespace {

struct PtxToken {
  enum class Kind : unsigned char {
    kEnd,
    kWord,  // a name, a number or a part of an instruction
    kSign,  // a single character
    kString,
    kBroken  // an unterminated comment or string, or a string with an escape
  };

  bool is(char sign) const { return kind == Kind::kSign && text[0] == sign; }
  bool is_name() const { return kind == Kind::kWord && (text[0] < '0' || text[0] > '9'); }

  Kind kind = Kind::kEnd;
  std::string_view text;
};

// Splits PTX into tokens: words, signs and strings. Comments are skipped.
class PtxScanner {
 public:
  // Scans `text`, which must outlive the scanner and its tokens.
  explicit PtxScanner(std::string_view text) : text_(text) {}

  // Returns the next token. Returns kEnd at the end of the text, also in further calls.
  PtxToken next();
  // Returns the position after the last token.
  size_t position() const { return at_; }

 private:
  bool skip();
  PtxToken string();
  PtxToken take(PtxToken::Kind kind, size_t length);

  const std::string_view text_;
  size_t at_ = 0;
};

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%';
}

// Skips white space and comments. Returns false if a comment is unterminated.
bool PtxScanner::skip() {
  while (at_ < text_.size()) {
    if (is_space(text_[at_])) {
      ++at_;
      continue;
    }
    const std::string_view two = text_.substr(at_, 2);
    if (two != "//" && two != "/*") return true;
    const bool is_line = two == "//";
    const size_t end = text_.find(is_line ? "\n" : "*/", at_ + 2);
    if (end == std::string_view::npos) {
      at_ = text_.size();
      return is_line;
    }
    at_ = end + (is_line ? 1 : 2);
  }
  return true;
}

PtxToken PtxScanner::take(PtxToken::Kind kind, size_t length) {
  const PtxToken token = {kind, text_.substr(at_, length)};
  at_ += length;
  return token;
}

PtxToken PtxScanner::string() {
  const size_t end = text_.find_first_of("\"\\\n", at_ + 1);
  if (end == std::string_view::npos || text_[end] != '"') {
    return take(PtxToken::Kind::kBroken, text_.size() - at_);
  }
  return take(PtxToken::Kind::kString, end + 1 - at_);
}

PtxToken PtxScanner::next() {
  if (!skip()) return {PtxToken::Kind::kBroken, {}};
  if (at_ == text_.size()) return {};
  if (text_[at_] == '"') return string();
  size_t length = 0;
  while (at_ + length < text_.size() && is_in_word(text_[at_ + length])) ++length;
  if (length == 0) return take(PtxToken::Kind::kSign, 1);
  return take(PtxToken::Kind::kWord, length);
}

constexpr std::string_view kProbe = "\n.visible .entry guf_probe()\n{\n\tret;\n}\n";

// Reads the items of a PTX module one after the other.
class ItemReader {
 public:
  struct Found {
    size_t begin, end;
    std::string_view name;
    bool is_entry, is_writable;
  };

  explicit ItemReader(std::string_view text) : scanner_(text) {}

  // Reads the head. Returns false if the text does not begin with `.version 6.3`,
  // `.target sm_75` (possibly with more targets) and, optionally, `.address_size 64`.
  bool read_head(size_t *out_end) {
    if (!directive("version") || !word() || !sign('.') || !word()) return false;
    if (!directive("target") || !word()) return false;
    *out_end = scanner_.position();
    for (advance(); token_.is(','); advance()) {
      if (!word()) return false;
      *out_end = scanner_.position();
    }
    if (!token_.is('.')) return token_.kind == PtxToken::Kind::kEnd;
    start_ = scanner_.position() - 1;
    advance();
    if (token_.text != "address_size") return true;  // the first item begins here
    if (!word()) return false;
    *out_end = scanner_.position();
    advance();
    return start();
  }
  bool at_end() const { return token_.kind == PtxToken::Kind::kEnd; }

  // Reads an item whose first directive is the current token.
  // Returns false if the syntax is unknown.
  bool read(Found *out) {
    out->begin = start_;
    out->is_entry = out->is_writable = false;
    bool is_linked = false;
    while (is_any_of({"extern", "visible", "weak", "common"})) {
      is_linked = true;
      if (!sign('.')) return false;
      advance();
    }
    if (is_any_of({"entry", "func"})) {
      out->is_entry = token_.text == "entry";
      if (!read_function(out)) return false;
    } else if (is_any_of({"global", "const", "shared"})) {
      const bool is_global = token_.text == "global";
      bool is_initialised = false;
      if (!read_variable(out, &is_initialised)) return false;
      out->is_writable = is_global && !(is_initialised && !is_linked && is_table(out->name));
    } else {
      return false;
    }
    out->end = scanner_.position();
    advance();
    return start();
  }

 private:
  void advance() { token_ = scanner_.next(); }
  bool word() {
    advance();
    return token_.kind == PtxToken::Kind::kWord;
  }
  bool sign(char expected) {
    advance();
    return token_.is(expected);
  }
  bool directive(std::string_view name) { return sign('.') && word() && token_.text == name; }
  bool is_any_of(std::initializer_list<std::string_view> words) const {
    for (const std::string_view one : words) {
      if (token_.kind == PtxToken::Kind::kWord && token_.text == one) return true;
    }
    return false;
  }

  // Advances to the first directive of the next item, or to the end of the text.
  bool start() {
    while (token_.is(';')) advance();
    if (at_end()) return true;
    if (!token_.is('.')) return false;
    start_ = scanner_.position() - 1;
    return word();
  }

  // Returns whether a variable is a constant that a compiler has put into global memory: a table
  // of a function (LLVM, "__const_$_..."), a constexpr table ("..._$_const"), or a constant of
  // libdevice ("__cudart_..."). LLVM writes "_$_" for a dot, which no name of a program contains.
  static bool is_table(std::string_view name) {
    constexpr std::string_view kEnd = "_$_const";
    return name.substr(0, 10) == "__const_$_" || name.substr(0, 9) == "__cudart_" ||
           (name.size() > kEnd.size() && name.substr(name.size() - kEnd.size()) == kEnd);
  }

  // Advances from an opening bracket to its closing bracket. Counts the brackets instead of keeping
  // a stack, because the assembler rejects mismatched kinds of brackets.
  bool close() {
    for (uint64_t depth = 1; depth != 0;) {
      advance();
      if (token_.kind == PtxToken::Kind::kEnd || token_.kind == PtxToken::Kind::kBroken) {
        return false;
      }
      if (token_.is('(') || token_.is('[') || token_.is('{')) ++depth;
      if (token_.is(')') || token_.is(']') || token_.is('}')) --depth;
    }
    return true;
  }

  // Reads `.entry name (parameters) directives {body}` or `.func (result) name (parameters);`.
  bool read_function(Found *out) {
    advance();
    if (token_.is('(')) {
      if (!close()) return false;
      advance();
    }
    if (!token_.is_name()) return false;
    out->name = token_.text;
    for (;;) {
      advance();
      if (token_.is(';')) return true;
      if (token_.is('{')) return close();
      if (token_.is('(')) {
        if (!close()) return false;
      } else if (token_.kind != PtxToken::Kind::kWord && !token_.is('.') && !token_.is(',')) {
        return false;
      }
    }
  }

  // Reads a variable such as `.global .align 4 .b8 name[8] = {1, 2};`.
  bool read_variable(Found *out, bool *out_initialised) {
    for (advance(); token_.is('.'); advance()) {
      if (!word() || token_.text == "attribute") return false;
      if (token_.text == "align" && !word()) return false;
    }
    if (!token_.is_name()) return false;
    out->name = token_.text;
    for (;;) {
      advance();
      if (token_.is(';')) return true;
      if (token_.kind == PtxToken::Kind::kEnd || token_.kind == PtxToken::Kind::kBroken) {
        return false;
      }
      if (token_.is(',') || token_.is(')') || token_.is(']') || token_.is('}')) return false;
      if (token_.is('=')) *out_initialised = true;
      if ((token_.is('(') || token_.is('[') || token_.is('{')) && !close()) return false;
    }
  }

  PtxScanner scanner_;
  PtxToken token_;
  size_t start_ = 0;  // start of the current item
};

uint32_t hash_of(std::string_view name) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace

PtxText::Result PtxText::open(const void *data, uint64_t size) {
  constexpr uint64_t kMax = UINT32_MAX / 2;
  const auto *const bytes = static_cast<const char *>(data);
  if (size > kMax) return Result::kWhole;
  size_ = static_cast<uint32_t>(strnlen(bytes, size));
  if (!text_.open(size_ + uint64_t{1})) return Result::kNoMemory;
  std::memcpy(text_.data(), bytes, size_);
  text_[size_] = '\0';
  uint64_t count = 0;
  if (!scan(&count, false) || count == 0) return Result::kWhole;
  if (!items_.open(count)) return Result::kNoMemory;
  nitems_ = static_cast<uint32_t>(count);
  if (!open_table()) return Result::kNoMemory;
  scan(&count, true);
  return Result::kText;
}

// Counts the items of the module. If `keep` is set, also stores them.
bool PtxText::scan(uint64_t *out_count, bool keep) {
  const std::string_view text = view(0, size_);
  ItemReader reader(text);
  size_t head_end = 0;
  if (!reader.read_head(&head_end)) return false;
  head_end_ = static_cast<uint32_t>(head_end);
  uint32_t count = 0;
  for (; !reader.at_end(); ++count) {
    ItemReader::Found found = {};
    if (!reader.read(&found)) return false;
    if (!keep) continue;
    uint32_t *const slot = slot_of(found.name);
    items_[count] = {static_cast<uint32_t>(found.begin),
                     static_cast<uint32_t>(found.end),
                     static_cast<uint32_t>(found.name.data() - text.data()),
                     static_cast<uint32_t>(found.name.size()),
                     *slot,
                     found.is_entry,
                     found.is_writable};
    *slot = count + 1;
  }
  *out_count = count;
  return true;
}

// Allocates the hash table. The table is at most half full, so that every search ends.
bool PtxText::open_table() {
  uint64_t slots = 16;
  while (slots < uint64_t{2} * nitems_) slots *= 2;
  if (!table_.open(slots)) return false;
  std::memset(table_.data(), 0, slots * sizeof(uint32_t));
  table_mask_ = static_cast<uint32_t>(slots - 1);
  return true;
}

// Returns the slot of a name, or the free slot where the name must be stored.
uint32_t *PtxText::slot_of(std::string_view name) {
  for (uint32_t at = hash_of(name) & table_mask_;; at = (at + 1) & table_mask_) {
    if (table_[at] == 0) return &table_[at];
    const Item &item = items_[table_[at] - 1];
    if (view(item.name, item.name + item.name_length) == name) return &table_[at];
  }
}

bool PtxText::has_entry(std::string_view name) {
  for (uint32_t number = *slot_of(name); number != 0; number = items_[number - 1].next) {
    if (items_[number - 1].is_entry) return true;
  }
  return false;
}

// Adds the items with this name to the queue unless they are in the queue already.
void PtxText::reach(std::string_view name, uint8_t *reached, uint32_t *queue,
                    uint32_t *inout_length) {
  for (uint32_t number = *slot_of(name); number != 0; number = items_[number - 1].next) {
    // All further items with this name are also in the queue.
    if (reached[number - 1] != 0) break;
    reached[number - 1] = 1;
    queue[(*inout_length)++] = number - 1;
  }
}

PtxText::Result PtxText::excerpt(const std::string_view *entries, size_t count,
                                 HostArray<char> *out) {
  HostArray<uint8_t> reached;
  HostArray<uint32_t> queue;
  if (!reached.open(nitems_) || !queue.open(nitems_)) return Result::kNoMemory;
  std::memset(reached.data(), 0, nitems_);
  uint32_t length = 0;
  for (size_t i = 0; i < count; ++i) reach(entries[i], reached.data(), queue.data(), &length);
  uint64_t bytes = head_end_ + uint64_t{2};  // includes a newline and the NUL byte
  for (uint32_t i = 0; i < length; ++i) {
    const Item &item = items_[queue[i]];
    if (item.is_writable) return Result::kWhole;
    bytes += item.end - item.begin + 1;
    PtxScanner scanner(view(item.begin, item.end));
    for (PtxToken token = scanner.next(); token.kind != PtxToken::Kind::kEnd;
         token = scanner.next()) {
      if (token.is_name()) reach(token.text, reached.data(), queue.data(), &length);
    }
  }
  if (!out->open(bytes)) return Result::kNoMemory;
  char *at = out->data();
  const auto append = [&](uint32_t begin, uint32_t end) {
    std::memcpy(at, text_.data() + begin, end - begin);
    at += end - begin;
    *at++ = '\n';
  };
  append(0, head_end_);
  for (uint32_t i = 0; i < nitems_; ++i) {
    if (reached[i] != 0) append(items_[i].begin, items_[i].end);
  }
  *at = '\0';
  return Result::kText;
}

PtxText::Result PtxText::probe(HostArray<char> *out) {
  if (!out->open(head_end_ + kProbe.size() + 1)) return Result::kNoMemory;
  std::memcpy(out->data(), text_.data(), head_end_);
  std::memcpy(out->data() + head_end_, kProbe.data(), kProbe.size());
  (*out)[head_end_ + kProbe.size()] = '\0';
  return Result::kText;
}

}  // namespace gufunc::gpu
