// SPDX-License-Identifier: BSD-3-Clause
// The structures of DLPack, versions 0 and 1: how arrays are handed from one library to another
// (https://dmlc.github.io/dlpack/latest).
#pragma once

#include <cstdint>

namespace fmm_python::dlpack {

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct Device {
  std::int32_t type;
  std::int32_t number;
};

enum TypeCode : std::uint8_t { whole = 0, natural = 1, real = 2 };

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t rank;
  DataType type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: one row after the other
  std::uint64_t byte_offset;
};

/// In a capsule "dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

/// In a capsule "dltensor_versioned".
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

inline constexpr std::uint64_t is_read_only = 1;

}  // namespace fmm_python::dlpack
