// What the generated model code and the runtime share on the C++ side of the interface.

#ifndef VERILATED_SHIM_HPP_
#define VERILATED_SHIM_HPP_

#include "verilated.h"
#include "verilated_shim.h"

#include <cstdint>
#include <exception>
#include <string>

struct vl_context {
  VerilatedContext context;
  // The model has coverage counters or writes a trace, which the context knows for ever.
  bool leaves_traces = false;
};

// Thrown by `$fatal`, `$stop`, `$finish` and the runtime's own fatal errors, so that they end one
// model and not the process.
class vl_shim_stopped : public std::exception {
 public:
  explicit vl_shim_stopped(const std::string &message) : message_(message) {}
  const char *what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

void vl_shim_record_error(const char *message);

// Runs `body`; an exception becomes the recorded error and a non-zero return.
template <class Body>
inline int32_t vl_shim_guarded(Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception &e) {
    vl_shim_record_error(e.what());
  } catch (...) {
    vl_shim_record_error("an exception of unknown type left the model");
  }
  return 1;
}

#endif
