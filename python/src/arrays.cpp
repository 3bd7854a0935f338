// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dlpack.hpp"
#include "session.hpp"

namespace fmm_python {

namespace {

constexpr char types_of_numbers[] =
    "arrays are of float32 or float64, numbers of sources of int32 or int64";

std::string type_name(py::handle object) {
  return py::str(py::type::handle_of(object).attr("__name__"));
}

/// The type that a buffer's format tells, in the machine's own order of bytes.
std::optional<rt::Number> number_of_format(char const* format, py::ssize_t size) {
  std::string text = format ? format : "B";
  const bool is_little = []() {
    const std::uint16_t one = 1;
    unsigned char first;
    std::memcpy(&first, &one, 1);
    return first == 1;
  }();
  if (text.size() == 2 && (text[0] == '@' || text[0] == '=' || text[0] == (is_little ? '<' : '>')))
    text.erase(0, 1);
  if (text == "f" && size == 4) return rt::Number::in_float;
  if (text == "d" && size == 8) return rt::Number::in_double;
  if ((text == "i" || text == "l" || text == "q") && size == 4) return rt::Number::in_int32;
  if ((text == "l" || text == "q" || text == "i") && size == 8) return rt::Number::in_int64;
  return std::nullopt;
}
std::optional<rt::Number> number_of_type(dlpack::DataType const& type) {
  if (type.lanes != 1) return std::nullopt;
  if (type.code == dlpack::real && type.bits == 32) return rt::Number::in_float;
  if (type.code == dlpack::real && type.bits == 64) return rt::Number::in_double;
  if (type.code == dlpack::whole && type.bits == 32) return rt::Number::in_int32;
  if (type.code == dlpack::whole && type.bits == 64) return rt::Number::in_int64;
  return std::nullopt;
}

bool is_of_numpy(py::handle object) {
  static PyObject* const ndarray =
      py::object(py::module_::import("numpy").attr("ndarray")).release().ptr();
  return PyObject_IsInstance(object.ptr(), ndarray) == 1;
}

void check_rank(py::ssize_t rank, std::string const& name) {
  if (rank < 1 || rank > 3)
    throw py::value_error(name + " has " + std::to_string(rank) +
                          " dimensions: 1 to 3 are allowed");
}

}  // namespace

Array::Array(py::handle object, std::string const& name, bool is_written) {
  if (is_of_numpy(object)) {
    take_buffer(object, name, is_written);
    return;
  }
  // torch's tensors have requires_grad; what is written here has no place in their graph
  if (py::hasattr(object, "requires_grad") &&
      py::cast<bool>(py::bool_(object.attr("requires_grad"))))
    throw py::type_error(name +
                         " requires a gradient, and sums are not differentiated: hand in "
                         "its detach()");
  const bool has_tensor =
      py::hasattr(object, "__dlpack__") && py::hasattr(object, "__dlpack_device__");
  if (PyObject_CheckBuffer(object.ptr()) && !has_tensor)
    take_buffer(object, name, is_written);
  else if (has_tensor)
    take_tensor(object, name, is_written);
  else
    throw py::type_error(name + " is of type " + type_name(object) +
                         ": an array that has the buffer protocol or DLPack is wanted, as those of "
                         "NumPy, CuPy, PyTorch and JAX");
}
void Array::take_buffer(py::handle object, std::string const& name, bool is_written) {
  auto taken = std::make_unique<Py_buffer>();
  Py_buffer& view = *taken;
  if (PyObject_GetBuffer(object.ptr(), &view,
                         PyBUF_STRIDES | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0)) != 0) {
    PyErr_Clear();
    throw py::value_error(name + " is not a buffer that can be " +
                          (is_written ? "written" : "read"));
  }
  buffer_.reset(taken.release());
  const auto number = number_of_format(view.format, view.itemsize);
  if (!number)
    throw py::type_error(name + " is of type '" + (view.format ? view.format : "B") +
                         "' (PEP 3118): " + types_of_numbers);
  check_rank(view.ndim, name);
  data_ = view.buf;
  shape_.number = *number;
  shape_.memory = rt::Memory::host;
  shape_.rank = view.ndim;
  py::ssize_t dense = view.itemsize;
  for (int r = view.ndim - 1; r >= 0; --r) {
    const py::ssize_t stride = view.strides ? view.strides[r] : dense;  // ctypes tells none
    dense *= view.shape[r];
    shape_.extent[r] = view.shape[r];
    if (stride % view.itemsize != 0)
      throw py::value_error(name + " has a stride of " + std::to_string(stride) +
                            " bytes, which is no multiple of its numbers' size");
    shape_.stride[r] = stride / view.itemsize;
  }
}

void Array::take_tensor(py::handle object, std::string const& name, bool is_written) {
  std::pair<int, int> device;
  try {
    device = py::cast<std::pair<int, int>>(object.attr("__dlpack_device__")());
  } catch (py::cast_error const&) {
    throw py::type_error(name + " has a __dlpack_device__ that is no pair of numbers");
  }
  const bool is_on_device = device.first == dlpack::cuda || device.first == dlpack::cuda_managed;
  if (!is_on_device && device.first != dlpack::cpu && device.first != dlpack::cuda_host)
    throw py::value_error(name + " is on a device of DLPack's type " +
                          std::to_string(device.first) + ": the CPU or a CUDA device is allowed");
  const auto there = rt::backends();
  const bool has_cuda = std::find(there.begin(), there.end(), rt::Backend::cuda) != there.end();
  if (has_cuda && device.first != dlpack::cpu) begin_session();
  if (is_on_device && !has_cuda)
    throw py::value_error(name +
                          " is on a CUDA device, and this build of fmm has no backend for one "
                          "(fmm.show_config())");
  py::dict keywords;
  if (is_on_device) keywords["stream"] = 1;  // the legacy default stream, which is waited for
  try {
    keywords["max_version"] = py::make_tuple(1, 0);
    try {
      capsule_ = object.attr("__dlpack__")(**keywords);
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_TypeError)) throw;
      keywords.attr("pop")("max_version");  // the protocol's first version
      capsule_ = object.attr("__dlpack__")(**keywords);
    }
  } catch (py::error_already_set& error) {
    for (PyObject* const kind :
         {PyExc_BufferError, PyExc_TypeError, PyExc_ValueError, PyExc_RuntimeError})
      if (error.matches(kind))
        throw py::type_error(name +
                             " cannot be taken by DLPack: " + std::string(py::str(error.value())));
    throw;
  }
  dlpack::Tensor const* tensor = nullptr;
  if (PyCapsule_IsValid(capsule_.ptr(), "dltensor_versioned")) {
    auto const* const managed = static_cast<dlpack::ManagedVersioned const*>(
        PyCapsule_GetPointer(capsule_.ptr(), "dltensor_versioned"));
    if (managed->major != 1)
      throw py::type_error(name + " is of DLPack's version " + std::to_string(managed->major) +
                           ": 0 and 1 are known");
    tensor = &managed->tensor;
    if (is_written && (managed->flags & dlpack::is_read_only))
      throw py::value_error(name + " is read-only");
  } else if (PyCapsule_IsValid(capsule_.ptr(), "dltensor")) {
    tensor = &static_cast<dlpack::Managed const*>(PyCapsule_GetPointer(capsule_.ptr(), "dltensor"))
                  ->tensor;
  } else {
    throw py::type_error(name + " gives no capsule of DLPack's");
  }
  if (is_on_device && tensor->device.number != rt::device_number(rt::Backend::cuda))
    throw py::value_error(name + " is on CUDA device " + std::to_string(tensor->device.number) +
                          ", and the library works on device " +
                          std::to_string(rt::device_number(rt::Backend::cuda)));
  if (!is_on_device && device.first != dlpack::cpu && has_cuda)
    rt::wait_for(rt::Backend::cuda);  // for what a stream still writes
  const auto number = number_of_type(tensor->type);
  if (!number) throw py::type_error(name + " is of another type of numbers: " + types_of_numbers);
  check_rank(tensor->rank, name);
  data_ = static_cast<char*>(tensor->data) + tensor->byte_offset;
  shape_.number = *number;
  shape_.memory = device.first == dlpack::cuda           ? rt::Memory::device
                  : device.first == dlpack::cuda_managed ? rt::Memory::both
                                                         : rt::Memory::host;
  shape_.rank = tensor->rank;
  std::int64_t dense = 1;
  for (int r = tensor->rank - 1; r >= 0; --r) {
    shape_.extent[r] = tensor->shape[r];
    shape_.stride[r] = tensor->strides ? tensor->strides[r] : dense;
    dense *= tensor->shape[r];
  }
}

std::string Array::dtype() const {
  switch (shape_.number) {
    case rt::Number::in_float:
      return "float32";
    case rt::Number::in_double:
      return "float64";
    case rt::Number::in_int32:
      return "int32";
    case rt::Number::in_int64:
      return "int64";
  }
  return "";
}

OwnArray::OwnArray(std::vector<std::int64_t> shape, std::string const& dtype, rt::Backend backend)
    : shape_(std::move(shape)),
      bits_(dtype == "float32" ? 32 : 64),
      type_(backend == rt::Backend::cuda ? dlpack::cuda : dlpack::cpu),
      number_(rt::device_number(backend)) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape_) count *= static_cast<std::size_t>(extent);
  const std::size_t bytes = count * static_cast<std::size_t>(bits_ / 8);
  memory_ = std::make_shared<rt::BackendMemory>(backend, std::max<std::size_t>(bytes, 1));
}

py::capsule OwnArray::to_dlpack() const {
  struct Owner {
    dlpack::Managed managed;
    std::shared_ptr<rt::BackendMemory> memory;
    std::vector<std::int64_t> shape;
  };
  auto owner = std::make_unique<Owner>();
  owner->memory = memory_;
  owner->shape = shape_;
  owner->managed.tensor = {memory_->data(),
                           {type_, number_},
                           static_cast<std::int32_t>(shape_.size()),
                           {dlpack::real, static_cast<std::uint8_t>(bits_), 1},
                           owner->shape.data(),
                           nullptr,
                           0};
  owner->managed.context = owner.get();
  owner->managed.deleter = [](dlpack::Managed* managed) {
    delete static_cast<Owner*>(managed->context);
  };
  const auto free_untaken = [](PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, "dltensor")) return;  // who took it frees it
    auto* const managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule, "dltensor"));
    managed->deleter(managed);
  };
  PyObject* const capsule = PyCapsule_New(&owner.release()->managed, "dltensor", free_untaken);
  if (!capsule) throw py::error_already_set();
  return py::reinterpret_steal<py::capsule>(capsule);
}

}  // namespace fmm_python
