// SPDX-License-Identifier: Apache-2.0
// Reads and writes the .npy files of the six programs. The files have version 1.0, C order and
// little-endian elements. The reader makes the programs independent of NumPy: they use only the
// public interface of the binding.
#ifndef GUFUNC_BINDINGS_CPP_NPY_FILES_HPP
#define GUFUNC_BINDINGS_CPP_NPY_FILES_HPP

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gufunc/gufunc.hpp>
#include <iterator>
#include <string>
#include <vector>

// The elements and the shape of an array. Bools are stored as bytes.
template <class T>
struct Npy {
  gufunc::Ints shape;
  std::vector<T> values;
  gufunc::Operand operand() { return {values.data(), shape}; }
};

// The folders and the device from the command line: `PROGRAM MODULES INPUTS OUTPUTS [DEVICE]`.
struct Folders {
  Folders(int argc, char **argv) {
    if (argc < 4) {
      std::fprintf(stderr, "usage: %s MODULES_FOLDER INPUTS_FOLDER OUTPUTS_FOLDER [DEVICE]\n",
                   argv[0]);
      std::exit(2);
    }
    modules = argv[1], inputs = argv[2], outputs = argv[3];
    device = gufunc::Device(std::string(argc > 4 ? argv[4] : "cpu"));
  }
  gufunc::Module module(const char *name) const {
    return gufunc::Module(modules + "/" + name + ".so");
  }

  template <class T>
  Npy<T> load(const char *name) const {
    std::ifstream file(inputs + "/" + name + ".npy", std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (bytes.size() < 10) throw std::runtime_error(inputs + "/" + name + ".npy cannot be read");
    const auto byte = [&](size_t place) { return static_cast<unsigned char>(bytes[place]); };
    const size_t start = 10 + byte(8) + 256U * byte(9);
    const std::string header(bytes.data() + 10, start - 10);
    std::vector<int64_t> shape;
    for (size_t at = header.find('(') + 1; header[at] != ')';) {
      char *end = nullptr;
      shape.push_back(std::strtoll(&header[at], &end, 10));
      at = header.find_first_not_of(", ", static_cast<size_t>(end - header.data()));
    }
    Npy<T> made{shape, std::vector<T>((bytes.size() - start) / sizeof(T))};
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes.end(),
              reinterpret_cast<char *>(made.values.data()));
    return made;
  }

  template <class T>
  void save(const char *name, const std::vector<T> &values, const gufunc::Ints &shape) const {
    std::string extents;
    for (const int64_t extent : shape) extents += std::to_string(extent) + ", ";
    if (shape.size() > 1) extents.resize(extents.size() - 2);
    if (shape.size() == 1) extents.resize(extents.size() - 1);
    const char kind = std::is_floating_point_v<T> ? 'f' : 'i';
    std::string header = std::string("{'descr': '<") + kind + std::to_string(sizeof(T)) +
                         "', 'fortran_order': False, 'shape': (" + extents + "), }";
    header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    std::ofstream file(outputs + "/" + name + ".npy", std::ios::binary);
    file.write("\x93NUMPY\x01\x00", 8);
    file.put(static_cast<char>(header.size() & 255)).put(static_cast<char>(header.size() >> 8));
    file << header;
    file.write(reinterpret_cast<const char *>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(T)));
    if (!file.flush()) throw std::runtime_error(outputs + "/" + name + ".npy cannot be written");
  }
  // Saves an array that is on any device.
  template <class T>
  void save(const char *name, const gufunc::Array &array) const {
    const auto typed = gufunc::TypedArray<T>::from(array);
    save(name, typed.to_vector(), typed.shape());
  }

  std::string modules, inputs, outputs;
  gufunc::Device device;
};

// Runs a program. If it throws, prints the error and returns 1.
template <class Program>
int run_program(int argc, char **argv, Program program) {
  try {
    program(Folders(argc, argv));
    return 0;
  } catch (const gufunc::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.name(), error.what());
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}

#endif  // GUFUNC_BINDINGS_CPP_NPY_FILES_HPP
