// SPDX-License-Identifier: Apache-2.0
// Checks the raw kernels of a kernel table.
#include <algorithm>
#include <vector>

#include "core/backend/raw_kernel.h"
#include "core/backend/table_reader.h"
#include "core/dtype/dtype.h"

namespace gufunc::backend {
namespace {

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
  if ((kernel.flags & ~uint32_t{GUF_MODULE_KERNEL_SYNCHRONISES}) != 0 || kernel.reserved != 0) {
    return "known ones";
  }
  return check_parameters(kernel, reader, out_field);
}

}  // namespace

uint32_t parameter_words(const guf_module_parameter &parameter) {
  if (parameter.kind == GUF_PARAMETER_POINTER) return 1;
  if (parameter.kind == GUF_PARAMETER_VIEW) return 1 + 2 * static_cast<uint32_t>(parameter.ndim);
  return (dtype::itemsize(parameter.dtype) + 7) / 8;
}

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

}  // namespace gufunc::backend
