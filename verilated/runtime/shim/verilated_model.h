// Included first in every model's file, so that compilers can precompile it.

#ifndef VERILATED_MODEL_H_
#define VERILATED_MODEL_H_

#include "verilated_print.h"

#include "verilated_shim.hpp"
#if VM_COVERAGE
#include "verilated_points.hpp"
#endif
#if VM_TRACE_VCD
#include "verilated_vcd_c.h"
#elif VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

#include <cstring>
#include <memory>

#endif  // VERILATED_MODEL_H_
