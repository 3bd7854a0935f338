// SPDX-License-Identifier: BSD-3-Clause
// Models of bodies and snapshots of files, by what the program fmm_forces reads.
#include "models.hpp"

#include <algorithm>
#include <bodies.hpp>  // of the program, as what follows
#include <filesystem>
#include <string>
#include <user_error.hpp>

namespace fmm_python {

namespace py = pybind11;

namespace {

/// A choice by the program's name for it. Throws InvalidArgument.
template <class Choice>
Choice choice(char const* argument, std::string const& name) {
  std::string names;
  for (auto const& [one, value] : forces::Names<Choice>::table) {
    if (one == name) return value;
    names += (names.empty() ? "" : ", ") + std::string(one);
  }
  throw fmm::InvalidArgument(argument, name, names);
}

/// Copies numbers into an array of the caller's of as many.
template <class T>
void fill(std::vector<T> const& numbers, py::buffer const& to) {
  const py::buffer_info info = to.request(true);
  if (info.size != static_cast<py::ssize_t>(numbers.size()) || info.itemsize != sizeof(T))
    throw py::value_error("an array of another size");
  std::copy(numbers.begin(), numbers.end(), static_cast<T*>(info.ptr));
}

forces::Bodies read(std::string const& file, bool charges_have_signs) {
  try {
    return forces::read_bodies(file, {"file", charges_have_signs ? forces::KernelKind::laplace
                                                                 : forces::KernelKind::gravity});
  } catch (forces::UserError const& error) {
    throw py::value_error(error.what());
  }
}

}  // namespace

void bind_bodies(py::module_& m) {
  py::class_<forces::Bodies>(m, "Bodies")
      .def_property_readonly("size", &forces::Bodies::size)
      .def_property_readonly("densities", [](forces::Bodies const& b) { return b.densities; })
      .def_property_readonly("has_dipoles",
                             [](forces::Bodies const& b) { return !b.dipoles.empty(); })
      .def_property_readonly("has_ids", [](forces::Bodies const& b) { return !b.ids.empty(); })
      .def_property_readonly("signed_ids", [](forces::Bodies const& b) { return b.signed_ids; })
      .def_property_readonly("notes", [](forces::Bodies const& b) { return b.notes; })
      .def("positions",
           [](forces::Bodies const& b, py::buffer const& to) { fill(b.positions, to); })
      .def("charges", [](forces::Bodies const& b, py::buffer const& to) { fill(b.charges, to); })
      .def("dipoles", [](forces::Bodies const& b, py::buffer const& to) { fill(b.dipoles, to); })
      .def("ids", [](forces::Bodies const& b, py::buffer const& to) { fill(b.ids, to); });
  m.def("make_model", [](std::string const& model, std::size_t n, std::uint64_t seed,
                         std::string const& charges) {
    const auto which = choice<forces::Model>("model", model);
    const auto kind = choice<forces::ChargeKind>("charges", charges);
    if (n > static_cast<std::size_t>(forces::max_bodies))
      throw fmm::InvalidArgument("n", static_cast<long long>(n), "0 to 2147483647");
    py::gil_scoped_release release;
    return forces::make_model(which, n, seed, kind);
  });
  m.def("read_bodies", &read, py::call_guard<py::gil_scoped_release>());
}

}  // namespace fmm_python
