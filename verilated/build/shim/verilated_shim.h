// C interface between Rust and the Verilator runtime.
//
// One table of functions for the runtime (`vl_runtime_api`) and one for each verilated model
// (`vl_model_api`). A model that is linked into the program and one that is loaded from a shared
// library are used through the same tables. No C++ exception crosses this interface: functions
// that can fail return 0 for success and leave the message to `last_error`.

#ifndef VERILATED_SHIM_H_
#define VERILATED_SHIM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Raised whenever a table or the meaning of an entry changes.
#define VL_SHIM_ABI 6

// Words of a text shown to an observing top.
#define VL_TEXT_WORDS 6

// A VerilatedContext: simulation time, seeds and `$finish` flag of one model.
typedef struct vl_context vl_context;
// A verilated model.
typedef struct vl_model vl_model;

// One port of a model. `offset` is in bytes into the packed struct of its direction; a port is
// stored as uint8_t, uint16_t, uint32_t or uint64_t up to 64 bits, else as uint32_t words, least
// significant first.
typedef struct vl_port {
  const char *name;
  uint32_t width;   // bits
  uint32_t offset;  // bytes
  uint32_t output;  // 1 for an output, 0 for an input
} vl_port;

// A place of the RTL that is counted, in Verilator's words.
typedef struct vl_point {
  const char *file;
  uint32_t line;
  uint32_t column;
  const char *page;     // v_line, v_branch or v_toggle, "/" and the module
  const char *comment;  // which of its kind
  const char *lines;    // the lines that are gone through with it, as in "117-120,122"
} vl_point;

typedef struct vl_runtime_api {
  uint32_t abi;
  // Verilator's version, as "5.006".
  const char *(*version)(void);
  vl_context *(*context_create)(void);
  void (*context_destroy)(vl_context *context);
  // Once, before a model is created in it. What registers hold before reset: 0 zeros, 1 ones, 2
  // random from `seed`, as are `$random` and its like.
  void (*context_begin)(vl_context *context, int32_t mode, int32_t seed);
  // After `context_begin` and before a model is created: what `$value$plusargs` finds, as "+name=value".
  int32_t (*context_argument)(vl_context *context, const char *argument);
  uint64_t (*context_time)(const vl_context *context);
  void (*context_advance)(vl_context *context, uint64_t ticks);
  // The last failure on the calling thread.
  const char *(*last_error)(void);
} vl_runtime_api;

typedef struct vl_model_api {
  uint32_t abi;
  const vl_runtime_api *runtime;
  const char *top;
  const vl_port *ports;
  uint32_t port_count;
  uint32_t inputs_size;   // bytes
  uint32_t outputs_size;  // bytes
  uint32_t inputs_alignment;   // bytes
  uint32_t outputs_alignment;  // bytes
  uint32_t traces;        // 0 built without trace, 1 VCD, 2 FST
  uint32_t covers;        // 1 if built with coverage
  // Why the model takes two heavy evaluations for a cycle; empty if its inputs are registered and one
  // does in a batch.
  const char *two_evaluations;
  vl_model *(*create)(vl_context *context);
  void (*destroy)(vl_model *model);
  // Clock low: drives every input, lets the model settle, reads every output. Bits above a port's width
  // are ignored in inputs and 0 in outputs.
  int32_t (*settle)(vl_model *model, const void *inputs, void *outputs);
  // Clock high: the rising edge.
  int32_t (*edge)(vl_model *model);
  // `count` cycles whose outputs are compared with `expected`, except for the bits that are 1 in `open`
  // (null: all bits are compared), up to the first that differs: `*done`
  // is its index then, and `actual` holds its outputs; else it is `count`. If the model stops, `*done` is
  // the cycle whose inputs were shown to it. The rising edge that ends a batch comes with the next one,
  // or with `edge`. Neither a batch nor `edge` may follow a difference.
  int32_t (*run_batch)(vl_model *model, const void *inputs, const void *expected, const void *open,
                       size_t count, size_t *done, void *actual);
  // `count` cycles of settle and edge over `inputs` with nothing around them; the outputs of the
  // last cycle only. The baseline of benchmarks.
  int32_t (*run_recorded)(vl_model *model, const void *inputs, size_t count, void *outputs);
  // Verilog `final` blocks.
  int32_t (*finish)(vl_model *model);
  int32_t (*trace_open)(vl_model *model, const char *path);
  // Adds the present values to the trace at `time`; times must grow.
  int32_t (*trace_dump)(vl_model *model, uint64_t time);
  // The trace is over, whether the rest could be written or not.
  int32_t (*trace_close)(vl_model *model);
  // For a model inside an observing top: shows it the golden model of a cycle, its outputs, state and
  // rule (texts of VL_TEXT_WORDS words, last character in the low byte), drives the inputs with the clock
  // as it is and lets the model settle. Then, reads the RTL's state register.
  int32_t (*observe)(vl_model *model, uint64_t cycle, const void *inputs, const void *outputs,
                     const uint32_t *state, const uint32_t *rule);
  uint64_t (*probe)(vl_model *model);
  // What is counted, in the order of the counters; for good. Makes a model in `context` for it.
  int32_t (*points)(vl_context *context, const vl_point **points, size_t *count);
  // How often the model went through each point, `count` of them: since the edge that ends the second cycle that it was shown
  // (power comes up in the first, the second is in reset), and until the edge that ended a batch.
  void (*counts)(const vl_model *model, uint32_t *counts, size_t count);
} vl_model_api;

// The runtime linked into this program or library.
const vl_runtime_api *vl_runtime(void);

#ifdef __cplusplus
}
#endif
#endif
