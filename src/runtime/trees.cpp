// SPDX-License-Identifier: BSD-3-Clause
// Sorts and octrees, for all backends.
#include "instances.hpp"

#define FMM_IN(Space) FMM_INSTANCES_OF_SPACE(, Space)
FMM_FOR_EACH_SITE(FMM_IN)
