// SPDX-License-Identifier: BSD-3-Clause
// What solvers of every order share (builds, the near field, the way of charges and results) is
// compiled once, in shared_instances.cpp, and not again in each order's translation unit.
#pragma once

#include "runner.hpp"

// FORCES_SHARED(prefix, Space, Real): declares (prefix = extern) or defines (empty) the instances.
#define FORCES_SHARED_BUILD(prefix, Space, Real, Traversal)                                 \
  prefix template void fmm::detail::build_plan<Traversal>(                                  \
      Space const&, fmm::detail::PlanStorage<Space, Real>&,                                 \
      decltype(forces::BodiesOn<Space>::positions)::const_type const&, fmm::Options const&, \
      fmm::Report*);

#define FORCES_SHARED_CHARGES(prefix, Space, Real, Positive)                       \
  prefix template double fmm::detail::take_charges<Positive>(                      \
      Space const&, decltype(forces::BodiesOn<Space>::charges)::const_type const&, \
      fmm::detail::Array<fmm::detail::BodyIndex, Space>,                           \
      fmm::detail::Array<fmm::detail::Body<Real>, Space>,                          \
      fmm::detail::Array<fmm::detail::Sums<Real>, Space>);

#define FORCES_SHARED_NEAR_FIELD(prefix, Space, Real, Kernel)                    \
  prefix template void fmm::detail::p2p<fmm::detail::Wanted<true, true>>(        \
      Space const&, Kernel const&, fmm::detail::Array<fmm::detail::Cell, Space>, \
      fmm::detail::Array<fmm::detail::Tile, Space>, fmm::detail::Csr<Space>,     \
      fmm::detail::Array<fmm::detail::Body<Real>, Space>,                        \
      fmm::detail::Array<fmm::detail::Sums<Real>, Space>);

#define FORCES_SHARED(prefix, Space, Real)                               \
  FORCES_SHARED_BUILD(prefix, Space, Real, fmm::BarnesHut)               \
  FORCES_SHARED_BUILD(prefix, Space, Real, fmm::FmmList)                 \
  FORCES_SHARED_BUILD(prefix, Space, Real, fmm::DualTree<>)              \
  FORCES_SHARED_CHARGES(prefix, Space, Real, true)                       \
  FORCES_SHARED_CHARGES(prefix, Space, Real, false)                      \
  FORCES_SHARED_NEAR_FIELD(prefix, Space, Real, fmm::Laplace)            \
  FORCES_SHARED_NEAR_FIELD(prefix, Space, Real, fmm::SoftenedGravity)    \
  prefix template void fmm::detail::give_results(                        \
      Space const&, fmm::detail::Array<fmm::detail::Sums<Real>, Space>,  \
      fmm::detail::Array<fmm::detail::BodyIndex, Space>, double, double, \
      forces::Column<Space, Real> const&, forces::Table3<Space, Real> const&);

#ifdef KOKKOS_ENABLE_SERIAL
FORCES_SHARED(extern, Kokkos::Serial, float)
FORCES_SHARED(extern, Kokkos::Serial, double)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
FORCES_SHARED(extern, Kokkos::OpenMP, float)
FORCES_SHARED(extern, Kokkos::OpenMP, double)
#endif
#ifdef KOKKOS_ENABLE_CUDA
FORCES_SHARED(extern, Kokkos::Cuda, float)
FORCES_SHARED(extern, Kokkos::Cuda, double)
#endif
