// SPDX-License-Identifier: Apache-2.0
// Checks kernel tables and their raw kernels. Every pointer is checked before it is used, and every
// count before it is multiplied.
#include "core/backend/kernel_table.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/base/checked.h"
#include "core/dtype/dtype.h"
#include "core/op/signature.h"
#include "core/op/state_reduction.h"

namespace gufunc::backend {
namespace {

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && text.size() <= GUF_MAX_NAME && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

// Checks the pointers of a kernel table before they are dereferenced.
class TableReader {
 public:
  explicit TableReader(const TableRules &rules) : rules_(rules) {}

  // Returns whether the table's memory contains `count` objects of type T at `pointer`.
  template <class T>
  bool contains(const T *pointer, uint64_t count = 1) const {
    const auto first = reinterpret_cast<uint64_t>(pointer);
    uint64_t size = 0, end = 0;
    if (first == 0 || first % alignof(T) != 0) return false;
    if (!base::checked_mul<uint64_t>(count, sizeof(T), &size)) return false;
    if (!base::checked_add(first, size, &end)) return false;
    return rules_.regions.empty() || find_region(first, end) != nullptr;
  }
  bool contains_code(void (*function)(void)) const {
    const auto address = reinterpret_cast<uint64_t>(function);
    if (address == 0) return false;
    if (rules_.regions.empty()) return true;
    const Region *const region = find_region(address, address + 1);
    return region != nullptr && region->executable;
  }
  // Reads a string of at most `limit` characters. Returns false if the string is longer or does not
  // end inside the table's memory.
  bool read_text(const char *pointer, size_t limit, std::string_view *out) const {
    if (!contains(pointer)) return false;
    uint64_t most = limit + 1;
    if (!rules_.regions.empty()) {
      const auto first = reinterpret_cast<uint64_t>(pointer);
      most = std::min(most, find_region(first, first + 1)->end - first);
    }
    *out = {pointer, strnlen(pointer, most)};
    return out->size() < most;
  }
  // Adds `work` (one unit is about one nanosecond) to the cost of checking the table. Returns false
  // if the total exceeds the limit for a file. The size of the file does not limit the work,
  // because several entries of a table may point to the same data.
  bool within_budget(uint64_t work) const {
    work_ += work;
    return rules_.regions.empty() || work_ <= kMaxWork;
  }

 private:
  static constexpr uint64_t kMaxWork = uint64_t{1} << 28;

  const Region *find_region(uint64_t first, uint64_t end) const {
    for (const Region &region : rules_.regions) {
      if (first >= region.first && end <= region.end) return &region;
    }
    return nullptr;
  }

  const TableRules &rules_;
  mutable uint64_t work_ = 0;
};

constexpr uint32_t kMaxRawKernels = 1U << 16;
constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kMaxSharedBytes = 1U << 20;
constexpr size_t kLongestText = 4096;
constexpr uint64_t kKernelWork = 200;  // nanoseconds, for TableReader::within_budget

const char *check_parameter(const guf_module_parameter &parameter, const char **out_field) {
  *out_field = "a parameter's kind";
  if (parameter.kind < GUF_PARAMETER_NUMBER || parameter.kind > GUF_PARAMETER_VIEW) return "1 to 3";
  *out_field = "a parameter's dtype";
  if (!dtype::valid(parameter.dtype) || dtype::is_structured(parameter.dtype)) {
    return "a dtype that is not structured";
  }
  *out_field = "a parameter's ndim";
  const bool is_view = parameter.kind == GUF_PARAMETER_VIEW;
  if (parameter.ndim < 0 || parameter.ndim > (is_view ? GUF_MAX_LOOP_NDIM : 0)) {
    return "0, of a view up to 8";
  }
  *out_field = "a parameter's flags";
  const bool is_number = parameter.kind == GUF_PARAMETER_NUMBER;
  return (parameter.flags & ~(is_number ? 0U : uint32_t{GUF_PARAMETER_READ_ONLY})) == 0
             ? nullptr
             : "known ones";
}

const char *check_parameters(const guf_module_kernel &kernel, const TableReader &reader,
                             const char **out_field) {
  *out_field = "a kernel's parameters";
  if (!reader.contains(kernel.parameters)) return "them in the table";
  const guf_module_parameters &all = *kernel.parameters;
  if (all.count > GUF_MAX_KERNEL_PARAMETERS) return "at most 32";
  if (all.count > 0 && !reader.contains(all.list, all.count)) return "them in the table";
  uint32_t words = 0;
  for (uint32_t i = 0; i < all.count; ++i) {
    if (const char *const expected = check_parameter(all.list[i], out_field)) return expected;
    words += parameter_words(all.list[i]);
  }
  *out_field = "a kernel's block_bytes";
  // The block has at least one word, even for a kernel without arguments.
  const uint64_t bytes = sizeof(guf_kernel_head) + uint64_t{8} * std::max(words, 1U);
  if (all.block_bytes != bytes || 8 * words > GUF_MAX_KERNEL_BYTES) {
    return "what its parameters add up to";
  }
  return nullptr;
}

const char *check_kernel(const guf_module_v1 &table, const guf_module_kernel &kernel,
                         const TableReader &reader, std::string_view *out_where,
                         const char **out_field) {
  std::string_view name, symbol, doc;
  *out_field = "a kernel's name";
  if (!reader.read_text(kernel.name, GUF_MAX_NAME, &name) || !is_identifier(name)) {
    return "[A-Za-z_][A-Za-z0-9_]*";
  }
  *out_where = name;
  *out_field = "a kernel's symbol";
  if (!reader.read_text(kernel.symbol, kLongestText, &symbol) || symbol.empty() ||
      !is_printable(symbol)) {
    return "a symbol";
  }
  *out_field = "doc";
  if (kernel.doc != nullptr && !reader.read_text(kernel.doc, kLongestText, &doc)) return "a text";
  *out_field = "raw_kernels";
  if (!reader.within_budget(kKernelWork + symbol.size() + doc.size())) {
    return "fewer rows and shorter texts";
  }
  *out_field = "a kernel's index";
  if (kernel.kernel >= table.nkernels) return "less than nkernels";
  *out_field = "a kernel's max_threads";
  if (kernel.max_threads == 0 || kernel.max_threads > kMaxThreads) return "1 to 1024";
  *out_field = "a kernel's shared_bytes";
  if (kernel.shared_bytes > kMaxSharedBytes) return "at most 1048576";
  *out_field = "a kernel's flags and reserved";
  if ((kernel.flags & ~uint32_t{GUF_MODULE_KERNEL_SYNCHRONIZES}) != 0 || kernel.reserved != 0) {
    return "known ones";
  }
  return check_parameters(kernel, reader, out_field);
}

// Checks the raw kernels of a table whose header and images are valid. Returns nullptr if the raw
// kernels are valid. Otherwise returns a description of the expected value, and writes the names of
// the invalid field and of its kernel.
const char *check_raw_kernels(const guf_module_v1 &table, const TableReader &reader,
                              std::string_view *out_where, const char **out_field) {
  const std::span<const guf_module_kernel> kernels = raw_kernels_of(table);
  if (kernels.empty()) return nullptr;
  *out_field = "raw_kernels";
  if (kernels.size() > kMaxRawKernels) return "at most 65536";
  if (!reader.contains(kernels.data(), kernels.size())) return "them in the table";
  const std::string_view module_name = *out_where;
  std::vector<std::string_view> names;
  for (const guf_module_kernel &kernel : kernels) {
    if (const char *const expected = check_kernel(table, kernel, reader, out_where, out_field)) {
      return expected;
    }
    names.emplace_back(kernel.name);
  }
  *out_where = module_name;
  *out_field = "raw_kernels";
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end() ? nullptr : "each name once";
}

constexpr uint32_t kMaxFunctions = 1U << 16;
constexpr uint32_t kMaxLoops = 1U << 12;
constexpr uint32_t kMaxKernels = 1U << 20;
constexpr uint32_t kMaxImages = 1U << 10;
constexpr uint64_t kMaxImageSize = uint64_t{1} << 31;
constexpr uint64_t kMaxInflatedSize = uint64_t{1} << 28;
// The measured costs of checks in nanoseconds, for TableReader::within_budget.
constexpr uint64_t kSignatureWork = 200, kWorkPerCharacter = 32, kLoopWork = 200, kEntryWork = 4;
constexpr uint32_t kAllFunctionFlags =
    GUF_FUNCTION_INPLACE_SAFE | GUF_FUNCTION_COMMUTATIVE | GUF_FUNCTION_ASSOCIATIVE |
    GUF_FUNCTION_FAST | GUF_FUNCTION_UNDERFLOWS | GUF_FUNCTION_DIVIDES |
    GUF_FUNCTION_ACCEPTS_EMPTY | GUF_FUNCTION_OVERWRITES | GUF_FUNCTION_KEEPS_PRECISION;

class Checker : private TableReader {
 public:
  Checker(const TableRules &rules, guf_error *error)
      : TableReader(rules), rules_(rules), error_(error) {}

  guf_status check(const guf_module_v1 *table);

 private:
  guf_status check_header(const guf_module_v1 *table);
  guf_status check_function(const guf_module_function &function);
  guf_status read_signature(const guf_module_function &function, op::Signature *out);
  guf_status check_reduction(const guf_module_v1 &table, const guf_module_function &function);
  guf_status check_loops(const guf_module_function &function);
  guf_status check_loop(const guf_module_function &function, const guf_module_loop &loop);
  guf_status check_fold(const guf_module_function &function, const guf_module_loop &loop);
  guf_status check_image(const guf_module_image &image);
  guf_status check_host_image(const guf_module_image &image);

  guf_status bad(const char *field, const char *expected) {
    return base::fail(error_, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "malformed kernel table%s%.*s; %s: expected %s", where_.empty() ? "" : " at ",
                      static_cast<int>(where_.size()), where_.data(), field, expected);
  }

  guf_status spend(uint64_t work) {
    return within_budget(work) ? GUF_OK : bad("table", "fewer rows and shorter texts");
  }

  // Reports an error of the parser for signatures, rules and roles.
  guf_status bad_form(const guf_error &parser) {
    return base::fail(error_, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "malformed kernel table at %.*s; %s", static_cast<int>(where_.size()),
                      where_.data(), parser.message);
  }

  const TableRules &rules_;
  guf_error *const error_;
  std::string_view where_;
  uint32_t nkernels_ = 0;
};

guf_status Checker::check_header(const guf_module_v1 *table) {
  if (!contains(reinterpret_cast<const char *>(table), kTableWithoutRaw) ||
      reinterpret_cast<uint64_t>(table) % alignof(guf_module_v1) != 0) {
    return bad("table", "an address inside the file");
  }
  if (table->struct_size != sizeof(guf_module_v1) && table->struct_size != kTableWithoutRaw) {
    // GUF_E_STRUCT: the program passed a wrong table. GUF_E_BAD_FILE: the file is damaged.
    return base::fail(error_, rules_.regions.empty() ? GUF_E_STRUCT : GUF_E_BAD_FILE, base::kNone,
                      base::kNone, "malformed kernel table; struct_size: expected %zu, got %u",
                      sizeof(guf_module_v1), table->struct_size);
  }
  if (table->kernel_abi != GUF_KERNEL_ABI) {
    return base::fail(
        error_, GUF_E_ABI, base::kNone, base::kNone,
        "the kernels were made for another libgufunc; kernel ABI: expected %d, got %u",
        GUF_KERNEL_ABI, table->kernel_abi);
  }
  std::string_view name;
  if (!read_text(table->name, GUF_MAX_NAME, &name) || !is_identifier(name)) {
    return bad("name", "[A-Za-z_][A-Za-z0-9_]*");
  }
  where_ = name;
  if (table->struct_size == kTableWithoutRaw && table->nraw_kernels != 0) {
    return bad("reserved", "0");
  }
  if (table->struct_size > kTableWithoutRaw && !contains(table)) {
    return bad("table", "an address inside the file");
  }
  if ((table->nfunctions == 0 && table->nraw_kernels == 0) || table->nfunctions > kMaxFunctions) {
    return bad("nfunctions", "1 to 65536");
  }
  if (table->nkernels > kMaxKernels) return bad("nkernels", "at most 1048576");
  if (table->nimages > kMaxImages) return bad("nimages", "at most 1024");
  if (table->nfunctions > 0 && !contains(table->functions, table->nfunctions))
    return bad("functions", "them in the table");
  if (table->nimages > 0 && !contains(table->images, table->nimages)) {
    return bad("images", "them in the table");
  }
  nkernels_ = table->nkernels;
  return GUF_OK;
}

guf_status Checker::read_signature(const guf_module_function &function, op::Signature *out) {
  const int32_t noperands = function.nin + function.nout;
  std::string_view signature, rules;
  if (function.rules != nullptr && !read_text(function.rules, kLongestText, &rules)) {
    return bad("rules", "a text");
  }
  if (function.roles != nullptr && !contains(function.roles, static_cast<uint64_t>(noperands))) {
    return bad("roles", "one per operand");
  }
  GUF_TRY(spend(kSignatureWork + kWorkPerCharacter * rules.size()));
  const int32_t nroles = function.roles == nullptr ? 0 : noperands;
  guf_error details = {};
  details.struct_size = sizeof details;
  if (function.signature == nullptr) {
    if (!rules.empty()) return bad("rules", "none without a signature");
    if (op::make_elementwise(function.nin, function.nout, function.roles, nroles, out, &details) !=
        GUF_OK) {
      return bad_form(details);
    }
    return GUF_OK;
  }
  if (!read_text(function.signature, GUF_MAX_SIGNATURE, &signature)) {
    return bad("signature", "a text");
  }
  GUF_TRY(spend(kWorkPerCharacter * signature.size()));
  if (op::parse_signature(signature, rules, function.roles, nroles, out, &details) != GUF_OK) {
    return bad_form(details);
  }
  if (out->nin != function.nin || out->nout != function.nout) {
    return bad("nin and nout", "the signature's");
  }
  return GUF_OK;
}

guf_status Checker::check_fold(const guf_module_function &function, const guf_module_loop &loop) {
  if (loop.fold == 0) return GUF_OK;
  if (loop.fold > nkernels_) return bad("a loop's fold", "0, or 1 + an index less than nkernels");
  const bool folds = function.signature == nullptr && function.nin == 2 && function.nout == 1 &&
                     loop.types[0] == loop.types[1] && loop.types[0] == loop.types[2];
  return folds ? GUF_OK : bad("a loop's fold", "0 where the loop is not (X, X) -> X");
}

guf_status Checker::check_loop(const guf_module_function &function, const guf_module_loop &loop) {
  const auto noperands = static_cast<uint64_t>(function.nin + function.nout);
  std::string_view name;
  GUF_TRY(spend(kLoopWork));
  if (!read_text(loop.name, kLongestText, &name) || name.empty() || !is_printable(name)) {
    return bad("a loop's name", "a symbol");
  }
  GUF_TRY(spend(name.size()));
  if (loop.kernel >= nkernels_) return bad("a loop's kernel", "less than nkernels");
  if (loop.kind != GUF_LOOP_NUMPY && loop.kind != GUF_LOOP_STATUS) {
    return bad("a loop's kind", "1 or 2");
  }
  if (!contains(loop.types, noperands) ||
      !std::all_of(loop.types, loop.types + noperands, dtype::valid)) {
    return bad("a loop's types", "one dtype per operand");
  }
  return check_fold(function, loop);
}

guf_status Checker::check_loops(const guf_module_function &function) {
  if (function.nloops == 0 || function.nloops > kMaxLoops) return bad("nloops", "1 to 4096");
  if (!contains(function.loops, function.nloops)) return bad("loops", "them in the table");
  // Loops must differ in the dtypes that select them: the input dtypes, or, in a function without
  // inputs or without outputs, all dtypes.
  const auto nchoosing = static_cast<size_t>(
      function.nout == 0 || function.nin == 0 ? function.nin + function.nout : function.nin);
  std::vector<std::vector<guf_dtype>> seen;
  for (uint32_t i = 0; i < function.nloops; ++i) {
    const guf_module_loop &loop = function.loops[i];
    GUF_TRY(check_loop(function, loop));
    seen.emplace_back(loop.types, loop.types + nchoosing);
  }
  std::sort(seen.begin(), seen.end());
  if (std::adjacent_find(seen.begin(), seen.end()) != seen.end()) {
    return bad("loops", "different input types in each");
  }
  return GUF_OK;
}

guf_status Checker::check_function(const guf_module_function &function) {
  std::string_view name, doc, failure;
  if (!read_text(function.name, GUF_MAX_NAME, &name) || !is_identifier(name)) {
    return bad("a function's name", "[A-Za-z_][A-Za-z0-9_]*");
  }
  where_ = name;
  if (function.doc != nullptr && !read_text(function.doc, kLongestText, &doc)) {
    return bad("doc", "a text");
  }
  if (function.failure != nullptr && !read_text(function.failure, kLongestText, &failure)) {
    return bad("failure", "a text");
  }
  GUF_TRY(spend(doc.size() + failure.size()));
  if (function.nin < 0 || function.nin > GUF_MAX_OPERANDS || function.nout < 0 ||
      function.nout > GUF_MAX_OPERANDS || function.nin + function.nout < 1 ||
      function.nin + function.nout > GUF_MAX_OPERANDS) {
    return bad("nin and nout", "1 to 32 operands");
  }
  if (function.identity < GUF_IDENTITY_NONE || function.identity > GUF_IDENTITY_MINUS_INF) {
    return bad("identity", "0 to 5");
  }
  if ((function.flags & ~kAllFunctionFlags) != 0) return bad("flags", "known ones");
  op::Signature signature;
  GUF_TRY(read_signature(function, &signature));
  const bool overwrites = (function.flags & GUF_FUNCTION_OVERWRITES) != 0;
  if (overwrites && (signature.nin == 0 || signature.core_ndim[0] == 0 || signature.writes(0))) {
    return bad("flags",
               "GUF_FUNCTION_OVERWRITES only if operand 0 is an input with core dimensions");
  }
  return check_loops(function);
}

// Checks the merge and finish functions of a reduction. Both must be in the same table, and neither
// may itself be a reduction, so that no cycle is possible.
guf_status Checker::check_reduction(const guf_module_v1 &table,
                                    const guf_module_function &function) {
  if (function.merge == 0 && function.finish == 0) return GUF_OK;
  where_ = function.name;
  if (function.merge == 0 || function.merge > table.nfunctions) {
    return bad("merge", "0, or 1 + index of a function");
  }
  if (function.finish > table.nfunctions) return bad("finish", "0, or 1 + index of a function");
  const guf_module_function &merge = table.functions[function.merge - 1];
  const guf_module_function *const finish =
      function.finish == 0 ? nullptr : &table.functions[function.finish - 1];
  const bool plain = merge.merge == 0 && (finish == nullptr || finish->merge == 0);
  op::Signature block_function, merges, finishes;
  GUF_TRY(read_signature(function, &block_function));
  GUF_TRY(read_signature(merge, &merges));
  if (finish != nullptr) GUF_TRY(read_signature(*finish, &finishes));
  if (plain &&
      op::check_state_reduction(block_function, merges, finish == nullptr ? nullptr : &finishes,
                                nullptr) == GUF_OK) {
    return GUF_OK;
  }
  return bad("merge and finish", "a reduction's");
}

guf_status Checker::check_host_image(const guf_module_image &image) {
  if (!rules_.host_code) return GUF_OK;
  if (!contains(image.entries, nkernels_)) return bad("entries", "one per kernel");
  GUF_TRY(spend(kEntryWork * nkernels_));
  for (uint32_t i = 0; i < nkernels_; ++i) {
    if (!contains_code(image.entries[i])) return bad("an entry", "a function of the module");
  }
  return GUF_OK;
}

guf_status Checker::check_image(const guf_module_image &image) {
  std::string_view target;
  if (!read_text(image.target, GUF_MAX_NAME, &target) || target.empty() || !is_printable(target)) {
    return bad("an image's target", "a name");
  }
  where_ = target;
  if (image.format < GUF_IMAGE_HOST) return bad("an image's format", "1 or more");
  if (image.codec != GUF_CODEC_NONE && image.codec != GUF_CODEC_ZSTD) {
    return bad("an image's codec", "0 or 1");
  }
  if (image.format == GUF_IMAGE_HOST) return check_host_image(image);
  if (image.size == 0 || image.size > kMaxImageSize ||
      !contains(static_cast<const unsigned char *>(image.data), image.size)) {
    return bad("an image's data", "it in the table");
  }
  if (image.codec == GUF_CODEC_NONE
          ? image.inflated_size != 0 && image.inflated_size != image.size
          : image.inflated_size == 0 || image.inflated_size > kMaxInflatedSize) {
    return bad("an image's inflated size", "the size that its codec leads to");
  }
  if (image.reserved != 0) return bad("an image's reserved", "0");
  const uint64_t whole = image.codec == GUF_CODEC_NONE ? image.size : image.inflated_size;
  uint64_t end = 0;
  if (!base::checked_add(image.offset, image.bytes, &end) || end > whole ||
      (image.bytes == 0 && image.offset != 0)) {
    return bad("an image's offset and bytes", "a part of what its data inflates to");
  }
  return GUF_OK;
}

guf_status Checker::check(const guf_module_v1 *table) {
  GUF_TRY(check_header(table));
  const std::string_view module_name = where_;
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < table->nfunctions; ++i) {
    GUF_TRY(check_function(table->functions[i]));
    names.emplace_back(table->functions[i].name);
  }
  for (uint32_t i = 0; i < table->nfunctions; ++i) {
    GUF_TRY(check_reduction(*table, table->functions[i]));
  }
  where_ = module_name;
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) {
    return bad("functions", "each name once");
  }
  for (uint32_t i = 0; i < table->nimages; ++i) GUF_TRY(check_image(table->images[i]));
  where_ = module_name;
  const char *field = nullptr;
  if (const char *const expected = check_raw_kernels(*table, *this, &where_, &field)) {
    return bad(field, expected);
  }
  return GUF_OK;
}

}  // namespace

uint32_t parameter_words(const guf_module_parameter &parameter) {
  if (parameter.kind == GUF_PARAMETER_POINTER) return 1;
  if (parameter.kind == GUF_PARAMETER_VIEW) return 1 + 2 * static_cast<uint32_t>(parameter.ndim);
  return (dtype::itemsize(parameter.dtype) + 7) / 8;
}

guf_status check_table(const guf_module_v1 *table, const TableRules &rules, guf_error *error) {
  return Checker(rules, error).check(table);
}

const guf_module_function *find_function(const guf_module_v1 &table, const char *name) {
  const guf_module_function *const end = table.functions + table.nfunctions;
  const auto *const found = std::find_if(
      table.functions, end,
      [&](const guf_module_function &function) { return std::strcmp(function.name, name) == 0; });
  return found == end ? nullptr : found;
}

const guf_module_loop *find_loop(const guf_module_function &function, const guf_dtype *types) {
  const auto noperands = static_cast<size_t>(function.nin + function.nout);
  const guf_module_loop *const end = function.loops + function.nloops;
  const auto *const found = std::find_if(function.loops, end, [&](const guf_module_loop &loop) {
    return std::equal(types, types + noperands, loop.types);
  });
  return found == end ? nullptr : found;
}

}  // namespace gufunc::backend
