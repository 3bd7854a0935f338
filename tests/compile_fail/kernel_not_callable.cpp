// SPDX-License-Identifier: BSD-3-Clause
// A pair kernel without operator().
// expect: the pair kernel must be trivially copyable and callable with r.2
#include <fmm/fmm.hpp>

struct Silent {};

fmm::Solver<Silent, fmm::DirectSum> solver;
