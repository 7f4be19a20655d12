// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_fixture.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <sstream>

namespace ptx::test {
namespace {

std::string number(uint64_t value) {
  return std::to_string(value);
}

// Returns the register of the operand with this position, for example %r2 for the type b32.
std::string register_of(const std::string &type, size_t position) {
  const char *const name = type == "pred"  ? "%p"
                           : type == "b16" ? "%h"
                           : type == "b32" ? "%r"
                                           : "%d";
  return name + number(position);
}

std::string load(const std::string &type, size_t position) {
  const std::string reg = register_of(type, position);
  const std::string address = ", [%d6+" + number(8 * (position - 1)) + "];\n";
  if (type != "pred") return "ld.global." + type + " " + reg + address;
  return "ld.global.b32 %r7" + address + "setp.ne.s32 " + reg + ", %r7, 0;\n";
}

std::string save(const std::string &type) {
  if (type != "pred") return "st.global." + type + " [%d7], " + register_of(type, 0) + ";\n";
  return "selp.b32 %r7, 1, 0, %p0;\nst.global.b32 [%d7], %r7;\n";
}

uint64_t run_row(const Row &row) {
  std::istringstream words(row.types);
  std::vector<std::string> types;
  for (std::string type; words >> type;) types.push_back(type);
  Kernel kernel;
  std::string operands = register_of(types[0], 0);
  for (size_t i = 1; i < types.size(); ++i) {
    kernel.body += load(types[i], i);
    operands += ", " + register_of(types[i], i);
  }
  kernel.body += std::string(row.instruction) + " " + operands + ";\n" + save(types[0]);
  kernel.in = row.inputs;
  return kernel.run()[0];
}

}  // namespace

Range Arrays::find(uint64_t address) {
  for (const Range &range : ranges_) {
    if (range.has(address, 1)) return range;
  }
  return {};
}

void Arrays::add(const void *first, uint64_t bytes, bool writable) {
  const auto address = reinterpret_cast<uint64_t>(first);
  ranges_.push_back({address, address + bytes, writable});
}

std::string Kernel::text() const {
  return ".version 7.0\n.target sm_75\n.address_size 64\n" + declarations +
         "\n.visible .entry test(.param .u64 in, .param .u64 out)\n{\n"
         ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n"
         ".reg .f32 %f<8>;\n.reg .f64 %g<8>;\n"
         "ld.param.u64 %d6, [in];\nld.param.u64 %d7, [out];\n" +
         body + "ret;\n}\n";
}

Result Kernel::run_into(std::vector<uint64_t> *out) const {
  out->assign(nout, 0);
  Arrays arrays;
  arrays.add(in.data(), in.size() * 8, false);
  arrays.add(out->data(), out->size() * 8);
  const uint64_t arguments[] = {reinterpret_cast<uint64_t>(in.data()),
                                reinterpret_cast<uint64_t>(out->data())};
  try {
    Program program(text());
    Launch launch;
    launch.program = &program;
    launch.entry = "test";
    launch.arguments = reinterpret_cast<const unsigned char *>(arguments);
    launch.argument_bytes = sizeof(arguments);
    launch.blocks[0] = blocks;
    launch.threads[0] = threads;
    launch.dynamic_shared_bytes = shared_bytes;
    launch.memory = &arrays;
    launch.order = order;
    return ptx::run(launch);
  } catch (const Fault &fault) {
    return {fault.what(), 0};
  }
}

std::vector<uint64_t> Kernel::run() const {
  std::vector<uint64_t> out;
  EXPECT_EQ(run_into(&out).fault, "") << text();
  return out;
}

std::string Kernel::fault() const {
  std::vector<uint64_t> out;
  return run_into(&out).fault;
}

void expect_rows(const std::vector<Row> &rows) {
  for (const Row &row : rows) {
    std::ostringstream inputs;
    for (const uint64_t input : row.inputs) inputs << " 0x" << std::hex << input;
    EXPECT_EQ(run_row(row), row.expected)
        << row.instruction << inputs.str() << " should be 0x" << std::hex << row.expected;
  }
}

uint64_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}
uint64_t bits(double value) {
  return std::bit_cast<uint64_t>(value);
}

}  // namespace ptx::test
