// The golden model of block BLOCK, which the crate implements. Generated; do not edit.
//
// A model is independent of all others and of the thread that calls it. No function throws, keeps a
// pointer to an argument, or reads anything but its arguments and its model.

#pragma once
#include "PREFIX_pins.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PREFIX_golden PREFIX_golden;

// A parameter of the RTL, or FIXES, the mask of fixes of a block with errata.
typedef struct cosim_parameter {
  const char *name;
  uint64_t value;
} cosim_parameter;

// Makes a model in reset. NULL refuses the parameters.
PREFIX_golden *PREFIX_golden_new(const cosim_parameter *parameters, size_t count);

// Frees a model.
void PREFIX_golden_free(PREFIX_golden *model);

// Computes every output before the rising edge, from the registers and the inputs. `open` is 0 in
// every bit; set the bits that the specification leaves open in this cycle.
void PREFIX_golden_outputs(const PREFIX_golden *model, const Inputs *inputs, Outputs *outputs,
                           Outputs *open);

// Takes the rising edge. `rules` is 0; set bit N % 64 of word N / 64 for each rule N that applied.
void PREFIX_golden_clock(PREFIX_golden *model, const Inputs *inputs, uint64_t rules[2]);

// The name of the state, a string literal.
const char *PREFIX_golden_state(const PREFIX_golden *model);

#ifdef __cplusplus
}
#endif
