// SPDX-License-Identifier: Apache-2.0
// Types and state spaces of PTX, and the error that the interpreter reports.
#ifndef GUFUNC_TESTS_PTX_PTX_TYPES_H
#define GUFUNC_TESTS_PTX_PTX_TYPES_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ptx {

enum class Kind : uint8_t { kBits, kUnsigned, kSigned, kFloat, kPackedHalves, kPredicate };

struct Type {
  Kind kind = Kind::kBits;
  uint8_t bits = 0;  // 0 means no type

  bool operator==(const Type &) const = default;
};

// Returns the type that a name such as "u32" denotes, or a type of 0 bits.
Type type_of(std::string_view name);

// Returns whether a register of type `declared` may be an operand of type `used`, if both have the
// same size. PTX ISA, "Operand Type Checking".
bool agree(Type declared, Type used);

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kParam, kConst };

// Windows of the generic address space. The address of a byte in one of these state spaces is its
// offset, and its generic address is the sum of the window and the offset. Generic addresses below
// all windows are global addresses.
constexpr uint64_t kSharedWindow = uint64_t{1} << 56;
constexpr uint64_t kLocalWindow = uint64_t{2} << 56;
constexpr uint64_t kParamWindow = uint64_t{3} << 56;
constexpr uint64_t kWindowBytes = uint64_t{1} << 32;

constexpr uint32_t kWarpSize = 32;

// An error in a PTX text, or an error of a kernel. The text has the line of the instruction.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_TYPES_H
