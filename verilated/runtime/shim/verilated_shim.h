// C interface between Rust and the Verilator runtime.
//
// The runtime has one table of functions (`vl_runtime_api`), and so has each verilated model
// (`vl_model_api`). Linked and loaded models are used through the same tables. No C++ exception
// crosses this interface: functions that can fail return 0 on success and otherwise store a message
// for `last_error`.

#ifndef VERILATED_SHIM_H_
#define VERILATED_SHIM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Increase this whenever a table or the meaning of an entry changes.
#define VL_SHIM_ABI 6

// Number of 32-bit words of a text passed to an observing top.
#define VL_TEXT_WORDS 6

// A VerilatedContext: simulation time, seeds and `$finish` flag of one model.
typedef struct vl_context vl_context;
// A verilated model.
typedef struct vl_model vl_model;

// One port of a model. `offset` is in bytes into the packed struct of its direction. A port of up
// to 64 bits is stored as uint8_t, uint16_t, uint32_t or uint64_t, a wider one as uint32_t words,
// least significant first.
typedef struct vl_port {
  const char *name;
  uint32_t width;   // bits
  uint32_t offset;  // bytes
  uint32_t output;  // 1 for an output, 0 for an input
} vl_port;

// A coverage point, as Verilator describes it.
typedef struct vl_point {
  const char *file;
  uint32_t line;
  uint32_t column;
  const char *page;     // kind (v_line, v_branch, v_toggle), "/", module
  const char *comment;  // identifies it among its kind
  const char *lines;    // the lines it covers, as in "117-120,122"
} vl_point;

typedef struct vl_runtime_api {
  uint32_t abi;
  // Verilator's version, such as "5.006".
  const char *(*version)(void);
  vl_context *(*context_create)(void);
  void (*context_destroy)(vl_context *context);
  // Call once before a model is created in the context. Register values before reset: 0 zeros, 1
  // ones, 2 random from `seed`. `$random` uses `seed`, too.
  void (*context_begin)(vl_context *context, int32_t mode, int32_t seed);
  // Call after `context_begin` and before a model is created. Sets a plusarg, as "+name=value".
  int32_t (*context_argument)(vl_context *context, const char *argument);
  uint64_t (*context_time)(const vl_context *context);
  void (*context_advance)(vl_context *context, uint64_t ticks);
  // The last error of the calling thread.
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
  // Why the model takes two heavy evaluations per cycle. Empty if its inputs are registered and one
  // suffices in a batch.
  const char *two_evaluations;
  vl_model *(*create)(vl_context *context);
  void (*destroy)(vl_model *model);
  // Clock low: drives every input, settles, and reads every output. Bits above a port's width are
  // ignored in inputs and 0 in outputs.
  int32_t (*settle)(vl_model *model, const void *inputs, void *outputs);
  // Clock high: the rising edge.
  int32_t (*edge)(vl_model *model);
  // Runs up to `count` cycles and compares the outputs with `expected`, up to the first difference.
  // Bits that are 1 in `open` are not compared (null: all bits are). `*done` is then the index of
  // the differing cycle, and `actual` holds its outputs; otherwise it is `count`. If the model
  // stops, `*done` is the cycle whose inputs were driven last. It is stored atomically as the batch
  // proceeds, so that another thread can read the progress. The rising edge that ends a batch is
  // due with the next batch or `edge`. Call neither after a difference.
  int32_t (*run_batch)(vl_model *model, const void *inputs, const void *expected, const void *open,
                       size_t count, size_t *done, void *actual);
  // Runs `count` cycles of settle and edge over `inputs` without comparison, as the baseline of
  // benchmarks. Reads the outputs of the last cycle only.
  int32_t (*run_recorded)(vl_model *model, const void *inputs, size_t count, void *outputs);
  // Verilog `final` blocks.
  int32_t (*finish)(vl_model *model);
  int32_t (*trace_open)(vl_model *model, const char *path);
  // Adds the current values to the trace at `time`. Times must increase.
  int32_t (*trace_dump)(vl_model *model, uint64_t time);
  // Closes the trace, even if the rest cannot be written.
  int32_t (*trace_close)(vl_model *model);
  // For a model inside an observing top: passes the golden model's outputs, state and rule (texts
  // of VL_TEXT_WORDS words, last character in the low byte), drives the inputs without changing the
  // clock, and settles. `probe` then reads the RTL's state register.
  int32_t (*observe)(vl_model *model, uint64_t cycle, const void *inputs, const void *outputs,
                     const uint32_t *state, const uint32_t *rule);
  uint64_t (*probe)(vl_model *model);
  // The coverage points in the order of the counters, valid as long as the library. Creates a model
  // in `context`.
  int32_t (*points)(vl_context *context, const vl_point **points, size_t *count);
  // The counts of the first `count` points. Counting starts with the edge that ends the second
  // cycle (power comes up in the first, the second is in reset) and excludes the edge that ended a
  // batch.
  void (*counts)(const vl_model *model, uint32_t *counts, size_t count);
} vl_model_api;

// The runtime linked into this program or library.
const vl_runtime_api *vl_runtime(void);

#ifdef __cplusplus
}
#endif
#endif
