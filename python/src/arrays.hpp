// SPDX-License-Identifier: BSD-3-Clause
// Arrays of Python as the library's: what has the buffer protocol or DLPack is taken as it is, without a copy.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <fmm/runtime.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fmm_python {

namespace py = pybind11;
namespace rt = fmm::runtime;

/// An array of the caller's, kept for as long as this lives.
class Array {
 public:
  /// Throws TypeError for what is no array of numbers of a type that the library takes, ValueError for one that it
  /// cannot be told where is, or that is to be written and may not.
  ///
  /// name    the argument's
  Array(py::handle object, std::string const& name, bool is_written);
  rt::ConstArray constant() const { return {data_, shape_}; }
  rt::MutableArray mutable_one() const { return {data_, shape_}; }
  rt::ArrayShape const& shape() const { return shape_; }
  void* data() const { return data_; }
  /// "float64"
  std::string dtype() const;
  /// Also in memory that both sides reach.
  bool is_on_device() const { return shape_.memory != rt::Memory::host; }

 private:
  void take_buffer(py::handle object, std::string const& name, bool is_written);
  void take_tensor(py::handle object, std::string const& name, bool is_written);

  struct Release {
    void operator()(Py_buffer* buffer) const {
      PyBuffer_Release(buffer);
      delete buffer;
    }
  };
  std::unique_ptr<Py_buffer, Release> buffer_;
  py::object capsule_;
  void* data_ = nullptr;
  rt::ArrayShape shape_;
};

/// Memory of the library's that others take by DLPack.
class OwnArray {
 public:
  /// dtype    "float32" or "float64"
  OwnArray(std::vector<std::int64_t> shape, std::string const& dtype, rt::Backend backend);

  /// A capsule that shares the memory.
  py::capsule to_dlpack() const;
  std::pair<int, int> device() const { return {type_, number_}; }

 private:
  std::shared_ptr<rt::BackendMemory> memory_;
  std::vector<std::int64_t> shape_;
  int bits_, type_, number_ = 0;
};

}  // namespace fmm_python
