// SPDX-License-Identifier: BSD-3-Clause
// Everything: include this.
#pragma once

#include "accuracy/accuracy.hpp"
#include "engine/checks.hpp"
#include "errors.hpp"
#include "inputs.hpp"
#include "large_pages.hpp"
#include "methods.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "report.hpp"
#include "solver.hpp"
#include "tolerance/calibrated_solver.hpp"
#include "tolerance/tolerance_solver.hpp"
#include "tuning.hpp"
#include "version.hpp"
