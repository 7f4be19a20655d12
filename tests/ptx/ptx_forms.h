// SPDX-License-Identifier: Apache-2.0
// The table of all instructions. A form is one combination of an opcode and its modifiers.
#ifndef GUFUNC_TESTS_PTX_PTX_FORMS_H
#define GUFUNC_TESTS_PTX_PTX_FORMS_H

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/ptx/ptx_program.h"

namespace ptx {

// An operand of a form.
struct Slot {
  enum Kind : uint8_t { kValue, kAddress, kLabel };

  Kind kind = kValue;
  Type type;
  bool is_output = false;
  bool may_be_wider = false;  // the register may be larger than the type
  bool is_optional = false;   // 0 if it is missing
  bool is_pair = false;       // an output that may be followed by `|` and a predicate
  uint8_t count = 1;          // number of elements of a vector
};

struct Form {
  Handler handler = nullptr;
  std::vector<Slot> slots;
  Flow flow = Flow::kPlain;
  Space space = Space::kGeneric;
  uint8_t bytes = 0, count = 1;
  bool is_signed = false;
  uint8_t mode = 0;
};

class Forms {
 public:
  // Returns null if no form has this name.
  const Form *find(const std::string &name) const;
  void add(const std::string &name, Form form);

 private:
  std::unordered_map<std::string, Form> all_;
};

// Returns the table.
const Forms &all_forms();

// Creates slots from a description such as "=s32 s32 s32". `=` marks an output, `+` after the type
// a register that may be larger, `?` an optional operand, `|` an output with an optional
// predicate, and `*2` or `*4` a vector. The types "address" and "label" are not values.
std::vector<Slot> slots_of(std::string_view description);

// Each function adds one group of instructions.
void add_integer_forms(Forms *forms);
void add_bit_forms(Forms *forms);
void add_comparison_forms(Forms *forms);
void add_float_forms(Forms *forms);
void add_approximate_forms(Forms *forms);
void add_conversion_forms(Forms *forms);
void add_memory_forms(Forms *forms);
void add_atomic_forms(Forms *forms);
void add_warp_forms(Forms *forms);
void add_control_forms(Forms *forms);

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_FORMS_H
