// SPDX-License-Identifier: BSD-3-Clause
// What solvers of every order share (builds, the near field, the way of charges and results, matrix
// products) is compiled once, in shared_instances.cpp, and not again in each order's translation unit.
#pragma once

#include "runner.hpp"

#if FORCES_HAS_GEMM
#include <fmm/batched_gemm.hpp>
#define FORCES_SHARED_BUCKETS(prefix, Space)                                                      \
  prefix template fmm::detail::SplitList<Space> fmm::detail::split_list(                          \
      Space const&, fmm::detail::OffsetBucketBuffers<Space>&,                                     \
      fmm::detail::Array<fmm::detail::Cell, Space>, fmm::detail::Csr<Space>, fmm::detail::Offset, \
      int);                                                                                       \
  prefix template fmm::detail::BucketedPairs<Space> fmm::detail::bucket_pairs(                    \
      Space const&, fmm::detail::OffsetBucketBuffers<Space>&,                                     \
      fmm::detail::SplitList<Space> const&, fmm::detail::Offset, fmm::detail::Offset,             \
      std::int64_t);
#define FORCES_SHARED_PRODUCT(prefix, Space, Real)                                               \
  prefix template void fmm::detail::multiply(Space const&, int, int, Real*, std::int64_t, Real*, \
                                             Real*);
#else
#define FORCES_SHARED_BUCKETS(prefix, Space)
#define FORCES_SHARED_PRODUCT(prefix, Space, Real)
#endif

// FORCES_SHARED(prefix, Space): declares (prefix = extern) or defines (empty) the instances.
#define FORCES_SHARED_BUILD_WITH(prefix, Space, Precision, Data, Traversal, Charges, LastField) \
  prefix template std::shared_ptr<fmm::detail::PlanStorage<Space, Precision>>                   \
  fmm::detail::make_plan<Traversal>(Space const&, fmm::detail::PlanPool<Space, Precision>&,     \
                                    fmm::Options const&, fmm::detail::FarFieldRule,             \
                                    fmm::detail::KernelProfile const&,                          \
                                    decltype(forces::BodiesOn<Space, Data>::positions) const&,  \
                                    Charges const&, LastField const&, fmm::Report*);

#define FORCES_SHARED_BUILD(prefix, Space, Precision, Data, Traversal) \
  FORCES_SHARED_BUILD_WITH(prefix, Space, Precision, Data, Traversal, fmm::None, fmm::None)

#define FORCES_SHARED_MEASURES(prefix, Space, Precision)                                    \
  prefix template fmm::detail::CellMeasures<Space>                                          \
  fmm::detail::measure_for_lists<fmm::DualTree<fmm::PowerCriterion>>(                       \
      Space const&, fmm::detail::PlanStorage<Space, Precision>&, fmm::detail::FarFieldRule, \
      fmm::detail::BodySums<Space, Precision> const&, double);
#define FORCES_SHARED_RELIST(prefix, Space, Precision, Traversal)                     \
  prefix template void fmm::detail::build_dual_lists<Traversal>(                      \
      Space const&, fmm::detail::PlanStorage<Space, Precision>&, fmm::Options const&, \
      fmm::detail::FarFieldRule, fmm::detail::CellMeasures<Space> const&,             \
      fmm::detail::Array<int, Space>);

#define FORCES_SHARED_CHARGES(prefix, Space, Precision, Data)                                    \
  prefix template void fmm::detail::take_charges(                                                \
      Space const&, double, decltype(forces::BodiesOn<Space, Data>::charges)::const_type const&, \
      fmm::detail::Array<fmm::detail::BodyIndex, Space>,                                         \
      fmm::detail::Array<fmm::detail::Body<fmm::detail::real_t<Precision>>, Space>,              \
      fmm::detail::Array<fmm::detail::Sums<fmm::detail::sum_t<Precision>>, Space>);

#define FORCES_SHARED_RESULTS(prefix, Space, Sum, Data)                  \
  prefix template void fmm::detail::give_results(                        \
      Space const&, fmm::detail::Array<fmm::detail::Sums<Sum>, Space>,   \
      fmm::detail::Array<fmm::detail::BodyIndex, Space>, double, double, \
      forces::Column<Space, Data> const&, forces::Table3<Space, Data> const&);

#define FORCES_SHARED_NEAR_FIELD(prefix, Space, Precision, Kernel)                   \
  prefix template void fmm::detail::p2p<fmm::detail::Wanted<true, true>, Precision>( \
      Space const&, Kernel const&, fmm::detail::Array<fmm::detail::Cell, Space>,     \
      fmm::detail::Array<fmm::detail::Tile, Space>, fmm::detail::Csr<Space>,         \
      fmm::detail::Array<fmm::detail::Body<fmm::detail::real_t<Precision>>, Space>,  \
      fmm::detail::Array<fmm::detail::Body<fmm::detail::real_t<Precision>>, Space>,  \
      fmm::detail::Array<fmm::detail::Sums<fmm::detail::sum_t<Precision>>, Space>,   \
      fmm::detail::TileParts<Space, fmm::detail::sum_t<Precision>>, double);

#define FORCES_SHARED_DATA(prefix, Space, Precision, Data)                                     \
  FORCES_SHARED_BUILD(prefix, Space, Precision, Data, fmm::AllPairs)                           \
  FORCES_SHARED_BUILD(prefix, Space, Precision, Data, fmm::BarnesHut)                          \
  FORCES_SHARED_BUILD(prefix, Space, Precision, Data, fmm::DualTree<fmm::RadiusCriterion>)     \
  FORCES_SHARED_BUILD(prefix, Space, Precision, Data, fmm::DualTree<fmm::FieldCriterion>)      \
  FORCES_SHARED_BUILD(prefix, Space, Precision, Data, fmm::DualTree<fmm::SourceCriterion>)     \
  FORCES_SHARED_BUILD_WITH(prefix, Space, Precision, Data, fmm::DualTree<fmm::PowerCriterion>, \
                           decltype(forces::BodiesOn<Space, Data>::charges), fmm::None)        \
  FORCES_SHARED_CHARGES(prefix, Space, Precision, Data)

// What there is not in mixed precision.
#define FORCES_SHARED_UNMIXED_DATA(prefix, Space, Real, Data)                                \
  FORCES_SHARED_BUILD(prefix, Space, Real, Data, fmm::FmmList)                               \
  FORCES_SHARED_BUILD_WITH(prefix, Space, Real, Data, fmm::DualTree<fmm::RelativeCriterion>, \
                           decltype(forces::BodiesOn<Space, Data>::charges),                 \
                           decltype(forces::ResultsOn<Space, Data>::field))
#define FORCES_SHARED_UNMIXED(prefix, Space, Real)        \
  FORCES_SHARED_UNMIXED_DATA(prefix, Space, Real, double) \
  FORCES_SHARED_RELIST(prefix, Space, Real, fmm::DualTree<fmm::RelativeCriterion>)

#define FORCES_SHARED_PRECISION(prefix, Space, Precision)                             \
  prefix template class fmm::detail::PlanPool<Space, Precision>;                      \
  FORCES_SHARED_DATA(prefix, Space, Precision, double)                                \
  FORCES_SHARED_MEASURES(prefix, Space, Precision)                                    \
  FORCES_SHARED_RELIST(prefix, Space, Precision, fmm::DualTree<fmm::PowerCriterion>)  \
  FORCES_SHARED_RELIST(prefix, Space, Precision, fmm::DualTree<fmm::RadiusCriterion>) \
  FORCES_SHARED_NEAR_FIELD(prefix, Space, Precision, fmm::Laplace)                    \
  FORCES_SHARED_NEAR_FIELD(prefix, Space, Precision, fmm::SoftenedGravity)            \
  FORCES_SHARED_NEAR_FIELD(prefix, Space, Precision, fmm::SplineGravity)

#define FORCES_SHARED(prefix, Space)                   \
  FORCES_SHARED_BUCKETS(prefix, Space)                 \
  FORCES_SHARED_PRECISION(prefix, Space, float)        \
  FORCES_SHARED_PRECISION(prefix, Space, fmm::Mixed)   \
  FORCES_SHARED_PRECISION(prefix, Space, double)       \
  FORCES_SHARED_UNMIXED(prefix, Space, float)          \
  FORCES_SHARED_UNMIXED(prefix, Space, double)         \
  FORCES_SHARED_RESULTS(prefix, Space, float, double)  \
  FORCES_SHARED_RESULTS(prefix, Space, double, double) \
  FORCES_SHARED_PRODUCT(prefix, Space, float)          \
  FORCES_SHARED_PRODUCT(prefix, Space, double)

#ifdef KOKKOS_ENABLE_SERIAL
FORCES_SHARED(extern, Kokkos::Serial)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
FORCES_SHARED(extern, Kokkos::OpenMP)
#endif
#ifdef KOKKOS_ENABLE_CUDA
FORCES_SHARED(extern, Kokkos::Cuda)
FORCES_SHARED_DATA(extern, Kokkos::Cuda, float, float)
FORCES_SHARED_UNMIXED_DATA(extern, Kokkos::Cuda, float, float)
FORCES_SHARED_RESULTS(extern, Kokkos::Cuda, float, float)
#endif
