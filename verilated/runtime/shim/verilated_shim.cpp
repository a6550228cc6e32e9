// The runtime table. Compiled with VL_USER_FINISH, VL_USER_STOP and VL_USER_FATAL, so that
// Verilator calls the functions below on `$finish`, `$stop` and fatal errors.

#include "verilated_shim.hpp"

#include "verilated_cov.h"
#include "verilated_open.h"
#undef fopen

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

// `__thread` variables have no destructors. A model may be dropped at the thread's end, after
// variables with destructors are gone.
__thread vl_context *vl_shim_current = nullptr;

namespace {

__thread char last_error[2048];
// The name of the assertion that failed last, from its message to `vl_stop`.
__thread char assertion[512];
__thread bool closing = false;
__thread bool closing_failed = false;
__thread bool thread_ended = false;

// Creating a context queries the number of processors, which takes as long as the rest of creating
// a small model. So each thread keeps its last reusable context.
__thread vl_context *spare = nullptr;

// Verilator stores the last context of all threads without a lock, also in constructors.
std::recursive_mutex last_context;

// Frees the spare context at the thread's end. The thread then runs no more models, because
// Verilator's thread-local variables may be gone, too.
struct ThreadEnd {
  bool armed = false;
  ~ThreadEnd() {
    thread_ended = true;
    delete spare;
    spare = nullptr;
    vl_shim_current = nullptr;
  }
};
thread_local ThreadEnd thread_end;

[[noreturn]] void stopped(const char *what, const char *file, int line, const char *message) {
  std::string text{what};
  if (message && *message) text += std::string{": "} + message;
  if (file && *file) text += std::string{" ("} + file + ":" + std::to_string(line) + ")";
  throw vl_shim_stopped{text};
}

const char *version() noexcept { return Verilated::productVersion(); }

vl_context *context_create() noexcept {
  if (spare) {
    vl_context *const taken = spare;
    spare = nullptr;
    return taken;
  }
  vl_context *created = nullptr;
  vl_shim_guarded([&] {
    if (thread_ended) throw vl_shim_stopped{"the thread is ending"};
    const std::lock_guard<std::recursive_mutex> lock{last_context};
    created = new vl_context;
    thread_end.armed = true;
  });
  return created;
}

void context_destroy(vl_context *context) noexcept {
  if (!spare && !thread_ended && context->is_reusable()) {
    context->reset();
    context->generator.reset();
    context->data = nullptr;
    context->asserts = false;
    context->leaves_traces = true;
    thread_end.armed = true;
    spare = context;
  } else {
    const vl_shim_closing quietly;
    delete context;
  }
}

void context_begin(vl_context *context, int32_t mode, int32_t seed) noexcept {
  context->begin(mode, seed);
}

int32_t context_argument(vl_context *context, const char *argument) noexcept {
  return vl_shim_guarded([&] { context->argument(argument); });
}

uint64_t context_time(const vl_context *context) noexcept { return context->time(); }

void context_advance(vl_context *context, uint64_t ticks) noexcept { context->timeInc(ticks); }

const char *get_last_error() noexcept { return last_error; }

const vl_runtime_api runtime_api = {
    VL_SHIM_ABI,      version,      context_create,  context_destroy, context_begin,
    context_argument, context_time, context_advance, get_last_error,
};

}  // namespace

vl_context::vl_context() : VerilatedContext{} {
  vl_shim_adopt(this);
  // With more threads, a context starts a thread pool for every model.
  threads(1);
  traceEverOn(true);
  fresh_files = m_fdps.size();
  fresh_channels = m_fdFreeMct;
}

vl_context::~vl_context() {
  if (vl_shim_current == this) vl_shim_current = nullptr;
}

void vl_context::begin(int mode, int seed) {
  randReset(mode);
  reseed(seed);
  if (has_argument) commandArgs(0, static_cast<const char **>(nullptr));
  has_argument = false;
}

void vl_context::argument(const char *text) {
  const char *words[] = {"", text};
  commandArgs(2, words);
  has_argument = true;
}

void vl_context::reseed(int seed) {
  m_s.m_randSeed = seed;
  generator_seed = static_cast<uint32_t>(seed);
  generator.reset();
}

bool vl_context::is_reusable() const {
  return !leaves_traces && !m_s.m_gotFinish && !m_s.m_gotError && m_s.m_errorCount == 0 &&
         m_fdps.size() == fresh_files && m_fdFreeMct == fresh_channels &&
         m_timeFormatSuffix.empty() && m_dumpfile.empty();
}

void vl_context::reset() {
  // Newer Verilators store atomics here, which cannot be assigned.
  m_s.~Serialized();
  new (&m_s) Serialized;
  traceEverOn(true);
}

uint64_t vl_shim_register(const char *scope, const char *member, const char *design) {
  std::string name = std::string{scope} + "." + member;
  const auto replace = [&name](const std::string &from, const char *to) {
    for (size_t at = 0; (at = name.find(from, at)) != std::string::npos;) {
      name.replace(at, from.size(), to);
    }
  };
  // Verilator's encodings of a dot, of brackets, and of class members.
  replace("__DOT__", ".");
  replace("__BRA__", "[");
  replace("__KET__", "]");
  replace("__PVT__", "");
  for (const std::string &around : {std::string{"TOP."}, std::string{design} + "."}) {
    if (name.compare(0, around.size(), around) == 0) name.erase(0, around.size());
  }
  // FNV-1a.
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const unsigned char letter : name) {
    if (std::isalnum(letter)) hash = (hash ^ letter) * 0x100000001b3ULL;
  }
  return hash;
}

std::FILE *vl_shim_open(const char *name, const char *mode) {
  const bool only_reads = *mode == 'r' && !std::strchr(mode, '+');
  const vl_data *data = only_reads && vl_shim_current ? vl_shim_current->data : nullptr;
  for (; data && data->name; ++data) {
    if (std::strcmp(data->name, name) != 0) continue;
    if (!data->text) {
      errno = ENOENT;
      return nullptr;
    }
    // Some systems cannot open empty memory.
    if (data->length == 0) return std::fopen("/dev/null", "r");
    return fmemopen(const_cast<char *>(data->text), data->length, "r");
  }
  return std::fopen(name, mode);
}

void vl_shim_switch(vl_context *context) {
  if (thread_ended) throw vl_shim_stopped{"the thread is ending"};
  vl_shim_adopt(context);
}

void vl_shim_adopt(vl_context *context) noexcept {
  const std::lock_guard<std::recursive_mutex> lock{last_context};
  Verilated::threadContextp(context);
  vl_shim_current = context;
}

void vl_shim_record_error(const char *message) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s", message ? message : "");
}

vl_shim_closing::vl_shim_closing() noexcept {
  closing = true;
  closing_failed = false;
}

vl_shim_closing::~vl_shim_closing() { closing = false; }

bool vl_shim_closing::failed() const noexcept { return closing_failed; }

void vl_finish(const char *file, int line, const char *) VL_MT_UNSAFE {
  stopped("the RTL called $finish", file, line, nullptr);
}

// Verilator's words: `[0] %Error: file.sv:7: Assertion failed in top.instance.label: ...`.
bool vl_shim_takes(const char *format, va_list arguments) {
  if (!vl_shim_current || !vl_shim_current->asserts) return false;
  char text[1024];
  std::vsnprintf(text, sizeof text, format, arguments);
  static const char words[] = ": Assertion failed in ";
  const char *name = std::strstr(text, "%Error: ") ? std::strstr(text, words) : nullptr;
  if (!name) return false;
  name += sizeof words - 1;
  const char *const end = std::strchr(name, ':');
  const size_t length = end ? end - name : std::strlen(name);
  std::snprintf(assertion, sizeof assertion, "%.*s", static_cast<int>(length), name);
  return true;
}

void vl_stop(const char *file, int line, const char *) VL_MT_UNSAFE {
  if (*assertion) {
    const std::string what = std::string{"assertion failed: "} + assertion;
    *assertion = 0;
    stopped(what.c_str(), file, line, nullptr);
  }
  stopped("the RTL called $stop", file, line, nullptr);
}

void vl_fatal(const char *file, int line, const char *, const char *message) VL_MT_UNSAFE {
  if (closing) {
    closing_failed = true;
    vl_shim_record_error(message);
    return;
  }
  stopped("fatal error in the model", file, line, message);
}

extern "C" const vl_runtime_api *vl_runtime(void) { return &runtime_api; }
