// The runtime table. Compiled with VL_USER_FINISH, VL_USER_STOP and VL_USER_FATAL, so that the
// functions Verilator calls on `$finish`, `$stop` and fatal errors are the ones below.

#include "verilated_shim.hpp"

#include "verilated_cov.h"

#include <cstdio>
#include <memory>
#include <string>

namespace {

thread_local std::string last_error;

[[noreturn]] void stopped(const char *what, const char *file, int line, const char *message) {
  std::string text{what};
  if (message && *message) text += std::string{": "} + message;
  if (file && *file) text += std::string{" ("} + file + ":" + std::to_string(line) + ")";
  throw vl_shim_stopped{text};
}

const char *version() {
  static const std::string text = [] {
    std::string product{Verilated::productVersion()};
    return product;
  }();
  return text.c_str();
}

// A context asks the system for its number of processors, which takes as long as all the rest of a
// small model's creation. So each thread keeps the last one that nothing happened to.
thread_local std::unique_ptr<vl_context> spare;

bool is_as_new(const vl_context &held) {
  const VerilatedContext &context = held.context;
  return !held.leaves_traces && !context.gotFinish() && !context.gotError() &&
         context.errorCount() == 0;
}

vl_context *context_create() {
  if (spare) return spare.release();
  vl_context *created = nullptr;
  vl_shim_guarded([&] {
    created = new vl_context;
    // A context with more threads starts a pool of them for every model.
    created->context.threads(1);
    created->context.traceEverOn(true);
  });
  return created;
}

void context_destroy(vl_context *context) {
  if (spare || !is_as_new(*context)) {
    delete context;
  } else {
    context->context.time(0);
    spare.reset(context);
  }
}

void context_random_reset(vl_context *context, int32_t mode, int32_t seed) {
  context->context.randReset(mode);
  context->context.randSeed(seed);
}

uint64_t context_time(const vl_context *context) { return context->context.time(); }

void context_advance(vl_context *context, uint64_t ticks) { context->context.timeInc(ticks); }

int32_t context_finished(const vl_context *context) { return context->context.gotFinish(); }

int32_t coverage_write(vl_context *context, const char *path) {
  return vl_shim_guarded([&] {
    // Verilator reports a file it cannot open through a fatal error of its own only in newer
    // versions, so look first.
    if (std::FILE *file = std::fopen(path, "w")) {
      std::fclose(file);
    } else {
      throw vl_shim_stopped{std::string{"cannot write "} + path};
    }
    context->context.coveragep()->write(path);
  });
}

const char *get_last_error() { return last_error.c_str(); }

const vl_runtime_api runtime_api = {
    VL_SHIM_ABI,     version,         context_create,   context_destroy, context_random_reset,
    context_time,    context_advance, context_finished, coverage_write,  get_last_error,
};

}  // namespace

void vl_shim_record_error(const char *message) { last_error = message ? message : ""; }

void vl_finish(const char *file, int line, const char *) VL_MT_UNSAFE {
  stopped("the RTL called $finish", file, line, nullptr);
}

void vl_stop(const char *file, int line, const char *) VL_MT_UNSAFE {
  stopped("the RTL called $stop", file, line, nullptr);
}

void vl_fatal(const char *file, int line, const char *, const char *message) VL_MT_UNSAFE {
  stopped("fatal error in the model", file, line, message);
}

extern "C" const vl_runtime_api *vl_runtime(void) { return &runtime_api; }
