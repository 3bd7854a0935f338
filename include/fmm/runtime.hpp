// SPDX-License-Identifier: BSD-3-Clause
// Everything of the library fmm::runtime: include this, and no template of the library is compiled. Free of Kokkos.
#pragma once

#include "runtime/any_solver.hpp"
#include "runtime/arrays.hpp"
#include "runtime/devices.hpp"
#include "runtime/policies.hpp"
#include "version.hpp"
