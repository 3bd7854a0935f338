// SPDX-License-Identifier: BSD-3-Clause
// What a program pays for Kokkos alone: the unit that the time of others is told in.
#include <Kokkos_Core.hpp>
