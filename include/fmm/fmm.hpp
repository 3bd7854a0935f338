// SPDX-License-Identifier: BSD-3-Clause
// Everything: include this.
#pragma once

#include "accuracy.hpp"
#include "concepts.hpp"
#include "errors.hpp"
#include "large_pages.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "report.hpp"
#include "solver.hpp"
#include "tolerance.hpp"
#include "tuning.hpp"
#include "version.hpp"
