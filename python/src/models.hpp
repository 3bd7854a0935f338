// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace fmm_python {

/// Adds models and snapshots to the module.
void bind_bodies(pybind11::module_& m);

}  // namespace fmm_python
