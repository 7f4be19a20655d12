// SPDX-License-Identifier: Apache-2.0
// Cases of the corpus. tests/conformance/corpus/README.md describes their format.
#ifndef GUFUNC_BINDINGS_CPP_CORPUS_CALL_HPP
#define GUFUNC_BINDINGS_CPP_CORPUS_CALL_HPP

#include <gufunc/gufunc.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

using Json = nlohmann::json;

// The binary data of a group of cases.
struct Blob {
  std::vector<unsigned char> bytes;
  const unsigned char *at(uint64_t place, uint64_t nbytes) const {
    if (place > bytes.size() || nbytes > bytes.size() - place)
      throw std::runtime_error("bytes outside the group's");
    return bytes.data() + place;
  }
};

// Memory of a case. `before` is the address of its initial contents in the blob.
struct Buffer {
  Buffer(const Json &json, const Blob &blob);
  std::vector<unsigned char> memory;
  unsigned char *data;
  const unsigned char *before;
  uint64_t nbytes;
};

// An operand, with the layout of its elements and the index of the buffer that contains them. The
// index is -1 if no buffer contains them.
struct Placed {
  gufunc::Operand operand;
  int buffer = -1;
  unsigned char *first = nullptr;
  gufunc::DType dtype;
  gufunc::Ints shape, strides;
  bool swapped = false;
};

int64_t integer_of(const Json &json);

class Case {
 public:
  Case(const Json &json, const Blob &blob);

  // Returns how the result or error differs from the expected one; "" if they are equal.
  std::string judge(const std::vector<gufunc::Array> &made) const;
  std::string judge(const gufunc::Error &error) const;

  const Json &json;
  const Blob &blob;
  std::vector<Buffer> buffers;
  std::vector<Placed> inputs, outputs, indices;
  std::optional<Placed> where, initial;
  mutable uint32_t fp_flags = 0;

 private:
  Placed placed(const Json &operand);
  std::vector<Placed> all_placed(const char *key);
  std::string result(const Json &expected, const Placed &given) const;
  std::string result(const Json &expected, const gufunc::Array &made) const;
  std::string others_kept(const std::vector<const Placed *> &written) const;
};

// Runs the call or method. Returns the outputs that the library allocated.
std::vector<gufunc::Array> call(const Case &one, gufunc::Device device);

// Compares `count` elements, in C order, with the expected ones. Returns a text that names the
// first wrong element; "" if all are right.
std::string elements(const Json &expected, const Blob &blob, gufunc::DType dtype, uint64_t count,
                     const unsigned char *found);

#endif  // GUFUNC_BINDINGS_CPP_CORPUS_CALL_HPP
