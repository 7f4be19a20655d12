// SPDX-License-Identifier: Apache-2.0
// Decodes the body of a function: resolves names, checks operands against the form of each
// instruction, and lays out the local memory and the parameter area.
#ifndef GUFUNC_TESTS_PTX_PTX_DECODER_H
#define GUFUNC_TESTS_PTX_PTX_DECODER_H

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/ptx/ptx_forms.h"
#include "tests/ptx/ptx_lexer.h"
#include "tests/ptx/ptx_program.h"
#include "tests/ptx/ptx_scope.h"

namespace ptx {

// An operand as written.
struct WrittenOperand {
  enum Kind : uint8_t { kName, kNumber, kVector, kAddress };

  Kind kind = kName;
  std::vector<Token> names;  // one name, the elements of a vector, or the base of an address
  Token pair;                // the predicate after `|`
  uint64_t number = 0;       // a literal; also of an element of a vector without a name
  int float_bits = 0;        // 32 or 64 for a float literal
  int64_t offset = 0;
  bool is_negated = false;  // !%p
};

class Decoder {
 public:
  Decoder(Program &program, Function *function);
  void run();

 private:
  void lay_out_parameters();
  bool statement();
  void declare_registers();
  void declare_local();
  void declare_param();
  void skip_location();
  void instruction(const Token &opcode);

  WrittenOperand read_operand();
  WrittenOperand read_vector();
  WrittenOperand read_address();
  WrittenOperand read_number();
  std::vector<WrittenOperand> read_operands();

  void read_guard(Instruction *out);
  void fill(const Form &form, const std::vector<WrittenOperand> &written, Instruction *out);
  void fill_value(const Slot &slot, const WrittenOperand &written, Instruction *out);
  void fill_address(const WrittenOperand &written, Instruction *out);
  void fill_label(const WrittenOperand &written);
  void add_operand(const Slot &slot, const Operand &operand, Instruction *out);

  Operand value_of(const Slot &slot, const Token &name);
  Operand output_of(const Slot &slot, const Token &name, Instruction *out);
  Operand literal_of(const Slot &slot, const WrittenOperand &written);
  Operand constant(uint64_t value);
  Operand address_of(const Token &name);
  Operand special(Special kind, uint64_t offset);
  void check_type(const Slot &slot, const Register &reg, const Token &name) const;

  void call(Instruction *out);
  std::vector<Token> read_call_list();
  std::vector<Transfer> transfers(const std::vector<Token> &names,
                                  const std::vector<Variable> &formals,
                                  const std::vector<Transfer> &places, const Token &callee);

  uint32_t new_register(Type type);
  [[noreturn]] void fail(const std::string &text) const;

  Program &program_;
  Function &function_;
  Lexer lexer_;
  Scopes scopes_;
  int depth_ = 1;
  std::vector<uint32_t> area_ends_;  // one per open block
  uint32_t area_end_ = 0;
  uint32_t line_ = 0;  // of the current instruction
  std::map<uint64_t, uint32_t> constants_;
  std::map<std::pair<int, uint64_t>, uint32_t> presets_;
  std::unordered_map<std::string_view, uint32_t> labels_;
  std::vector<std::pair<uint32_t, Token>> branches_;  // instructions, and the labels they name
};

// Assigns offsets to the parameters of a function. Returns the end of the last one.
uint32_t lay_out(const std::vector<Variable> &variables, uint32_t first,
                 std::vector<Transfer> *out);

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_DECODER_H
