// SPDX-License-Identifier: BSD-3-Clause
// The acceptance criteria, and the contract that all keep: may a source cell act on a target cell through its
// expansion?
#pragma once

#include "contract.hpp"
#include "cube.hpp"
#include "field.hpp"
#include "multipole_power.hpp"
#include "radius.hpp"
#include "relative_force.hpp"
#include "source.hpp"
#include "stencil.hpp"
#include "variable_order.hpp"
