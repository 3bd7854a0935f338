# SPDX-License-Identifier: BSD-3-Clause
# fmm_orders: the orders of FMM_ORDERS, rising, each once. fmm_order_list: with commas, for C++.
set(fmm_orders ${FMM_ORDERS})
list(SORT fmm_orders COMPARE NATURAL)
list(REMOVE_DUPLICATES fmm_orders)
foreach(order IN LISTS fmm_orders)
  if(NOT order MATCHES "^[0-9]+$")
    message(FATAL_ERROR "FMM_ORDERS: '${order}' is not an order (a list of integers >= 0)")
  endif()
endforeach()
list(JOIN fmm_orders "," fmm_order_list)
if("${fmm_order_list}" STREQUAL "")
  message(FATAL_ERROR "FMM_ORDERS is empty: fmm_forces and fmm::runtime need an order")
endif()
