// SPDX-License-Identifier: BSD-3-Clause
// What benchmarks and the laboratory's solvers of every order share (builds, the way of charges and results, matrix
// products) is compiled once, in shared_instances.cpp, and not again in each order's translation unit. What
// fmm::runtime has compiled (operators, the near field, lists) is not compiled again either.
#pragma once

#include <compiled_instances.hpp>

#include "bodies_on.hpp"

#if FORCES_HAS_GEMM
#include <fmm/batched_gemm.hpp>
#define FORCES_SHARED_BUCKETS(prefix, Space)                                                    \
  prefix template fmm::tree::SplitList<Space> fmm::tree::split_list(                            \
      Space const&, fmm::tree::OffsetBucketBuffers<Space>&, fmm::Array<fmm::Cell, Space>,       \
      fmm::Csr<Space>, fmm::Offset, int);                                                       \
  prefix template fmm::tree::BucketedPairs<Space> fmm::tree::bucket_pairs(                      \
      Space const&, fmm::tree::OffsetBucketBuffers<Space>&, fmm::tree::SplitList<Space> const&, \
      fmm::Offset, fmm::Offset, std::int64_t);
#define FORCES_SHARED_PRODUCT(prefix, Space, Real)                                               \
  prefix template void fmm::engine::multiply(Space const&, int, int, Real*, std::int64_t, Real*, \
                                             Real*);
#else
#define FORCES_SHARED_BUCKETS(prefix, Space)
#define FORCES_SHARED_PRODUCT(prefix, Space, Real)
#endif

// FORCES_SHARED(prefix, Space): declares (prefix = extern) or defines (empty) the instances.
#define FORCES_SHARED_BUILD_WITH(prefix, Space, Precision, Data, Traversal, Charges, LastField) \
  prefix template std::shared_ptr<fmm::engine::PlanData<Space, Precision>>                      \
  fmm::engine::make_plan<Traversal>(                                                            \
      Space const&, fmm::engine::PlanPool<Space, Precision>&, fmm::Options const&,              \
      fmm::engine::FarFieldRule, fmm::kernels::KernelProfile const&,                            \
      fmm::Inputs<decltype(forces::BodiesOn<Space, Data>::positions), Charges, fmm::None,       \
                  LastField> const&,                                                            \
      fmm::Report*, fmm::engine::BuildChoices const*, fmm::engine::PeriodicCell*);

#define FORCES_SHARED_BUILD(prefix, Space, Precision, Data, Traversal) \
  FORCES_SHARED_BUILD_WITH(prefix, Space, Precision, Data, Traversal, fmm::None, fmm::None)

#define FORCES_SHARED_RELIST(prefix, Space, Precision, Traversal)                              \
  prefix template fmm::tree::InteractionLists<Space> fmm::engine::build_dual_lists<Traversal>( \
      Space const&, fmm::engine::Workspace<Space, Precision>&,                                 \
      fmm::engine::BodyTree<Space, Precision> const&, fmm::Options const&,                     \
      fmm::engine::FarFieldRule, fmm::tree::CellMeasures<Space> const&, fmm::Array<int, Space>);

#define FORCES_SHARED_CHARGES(prefix, Space, Precision, Data)              \
  prefix template void fmm::engine::take_charges(                          \
      Space const&, fmm::kernels::DensityUnits<> const&,                   \
      decltype(forces::BodiesOn<Space, Data>::charges)::const_type const&, \
      fmm::Array<fmm::BodyIndex, Space>,                                   \
      fmm::kernels::SourceStrengths<Space, fmm::real_t<Precision>> const&, \
      fmm::Array<fmm::Sums<fmm::sum_t<Precision>>, Space>, int, double);

#define FORCES_SHARED_RESULTS(prefix, Space, Sum, Data)                                      \
  prefix template std::int64_t fmm::engine::give_results<fmm::kernels::Outputs<true, true>>( \
      Space const&, fmm::Array<fmm::Sums<Sum>, Space>, fmm::Array<fmm::BodyIndex, Space>,    \
      fmm::kernels::DensityUnits<> const&, double,                                           \
      fmm::Results<forces::Column<Space, Data>, forces::Table3<Space, Data>> const&, bool, bool);

#define FORCES_SHARED_DATA(prefix, Space, Precision, Data)                                 \
  FORCES_SHARED_BUILD(prefix, Space, Precision, Data, fmm::DirectSum)                      \
  FORCES_SHARED_BUILD(prefix, Space, Precision, Data, fmm::BarnesHut)                      \
  FORCES_SHARED_BUILD(prefix, Space, Precision, Data, fmm::DualTree<fmm::RadiusCriterion>) \
  FORCES_SHARED_BUILD(prefix, Space, Precision, Data, fmm::DualTree<fmm::FieldCriterion>)  \
  FORCES_SHARED_BUILD(prefix, Space, Precision, Data, fmm::DualTree<fmm::SourceCriterion>) \
  FORCES_SHARED_CHARGES(prefix, Space, Precision, Data)

// What there is not in mixed precision.
#define FORCES_SHARED_UNMIXED_DATA(prefix, Space, Real, Data)                                     \
  FORCES_SHARED_BUILD(prefix, Space, Real, Data, fmm::FmmList)                                    \
  FORCES_SHARED_BUILD_WITH(prefix, Space, Real, Data, fmm::DualTree<fmm::RelativeForceCriterion>, \
                           decltype(forces::BodiesOn<Space, Data>::charges),                      \
                           decltype(forces::ResultsOn<Space, Data>::field))
#define FORCES_SHARED_UNMIXED(prefix, Space, Real)        \
  FORCES_SHARED_UNMIXED_DATA(prefix, Space, Real, double) \
  FORCES_SHARED_RELIST(prefix, Space, Real, fmm::DualTree<fmm::RelativeForceCriterion>)

#define FORCES_SHARED(prefix, Space)                    \
  FORCES_SHARED_BUCKETS(prefix, Space)                  \
  FORCES_SHARED_DATA(prefix, Space, float, double)      \
  FORCES_SHARED_DATA(prefix, Space, fmm::Mixed, double) \
  FORCES_SHARED_DATA(prefix, Space, double, double)     \
  FORCES_SHARED_UNMIXED(prefix, Space, float)           \
  FORCES_SHARED_UNMIXED(prefix, Space, double)          \
  FORCES_SHARED_RESULTS(prefix, Space, float, double)   \
  FORCES_SHARED_RESULTS(prefix, Space, double, double)  \
  FORCES_SHARED_PRODUCT(prefix, Space, float)           \
  FORCES_SHARED_PRODUCT(prefix, Space, double)

FORCES_SHARED(extern, fmm::Host)
#ifdef KOKKOS_ENABLE_CUDA
FORCES_SHARED(extern, Kokkos::Cuda)
FORCES_SHARED_DATA(extern, Kokkos::Cuda, float, float)
FORCES_SHARED_UNMIXED_DATA(extern, Kokkos::Cuda, float, float)
FORCES_SHARED_RESULTS(extern, Kokkos::Cuda, float, float)
#endif
