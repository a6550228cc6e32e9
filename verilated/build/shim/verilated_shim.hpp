// What the generated model code and the runtime share on the C++ side of the interface.

#ifndef VERILATED_SHIM_HPP_
#define VERILATED_SHIM_HPP_

#include "verilated.h"
#include "verilated_shim.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

// A file that the RTL opens by a constant name, ended by one without a name. Without a text there is no such file.
struct vl_data {
  const char *name;
  const char *text;
  std::size_t length;
};

struct vl_context final : VerilatedContext {
  vl_context();
  ~vl_context();

  // What registers hold before reset, and where random numbers begin.
  void begin(int mode, int seed);
  // What the model's `$value$plusargs` finds, and nothing else.
  void argument(const char *text);
  // Begins the random numbers anew: `$random(seed)`.
  void reseed(int seed);
  // Whether a model left nothing in it that the next one could see, once the scalars are reset.
  bool is_reusable() const;
  // Resets what models change in passing: time, units, formats, errors.
  void reset();

  // The files of the model.
  const vl_data *data = nullptr;

  // The model checks assertions: one that fails is told from `$stop`.
  bool asserts = false;

  // The generator of `$random` and its like; made when the first number is drawn, since most RTL
  // draws none.
  std::shared_ptr<void> generator;
  uint64_t generator_seed = 0;
  // The model writes a trace or was stopped; or there is none yet.
  bool leaves_traces = true;

 private:
  bool has_argument = false;
  std::size_t fresh_files;
  std::vector<IData> fresh_channels;
};

// Verilator keeps the context that belongs to a thread, and takes from it what is not handed down as
// an argument: seeds, files, arguments, assertions. So each call of a model begins with this. The
// variable has no constructor: it costs one comparison.
extern __attribute__((visibility("hidden"))) __thread vl_context *vl_shim_current;
void vl_shim_switch(vl_context *context);
// The same for destructors, which run even while the thread ends.
void vl_shim_adopt(vl_context *context) noexcept;

inline void vl_shim_enter(vl_context *context) {
  if (__builtin_expect(vl_shim_current != context, 0)) vl_shim_switch(context);
}

// The generator of random numbers of the present model, of the kind that Verilator's version has.
// Verilator's own belongs to the thread and begins anew whenever any thread seeds any context.
template <class Generator>
inline Generator &vl_shim_generator() {
  vl_context &context = *vl_shim_current;
  if (!context.generator) context.generator = std::make_shared<Generator>(context.generator_seed);
  return *static_cast<Generator *>(context.generator.get());
}

// The generator for Verilators that have no class of their own: SplitMix64.
class vl_shim_random final {
 public:
  explicit vl_shim_random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

// The register `member` of the instance `scope`, by its name below the module `design`, of which only letters
// and digits count: whether Verilator cuts the hierarchy into classes or into names makes no difference.
uint64_t vl_shim_register(const char *scope, const char *member, const char *design);

// An element of it, if it is a memory; or a word, if it is wide.
inline uint64_t vl_shim_element(uint64_t name, uint64_t index) {
  return vl_shim_random{name + index}.next();
}

// What registers hold before reset, by their names.
inline QData vl_shim_before_reset_Q(int bits, uint64_t name) {
  const int mode = vl_shim_current->randReset();
  if (mode == 0) return 0;
  const QData random = vl_shim_random{vl_shim_current->generator_seed ^ name}.next();
  return (mode == 1 ? ~QData{0} : random) & VL_MASK_Q(bits);
}
inline IData vl_shim_before_reset_I(int bits, uint64_t name) {
  return static_cast<IData>(vl_shim_before_reset_Q(bits, name));
}
inline void vl_shim_before_reset_W(int bits, WDataOutP words, uint64_t name) {
  for (int word = 0; word < VL_WORDS_I(bits); ++word) {
    const int left = bits - 32 * word;
    words[word] = vl_shim_before_reset_I(left < 32 ? left : 32, vl_shim_element(name, word));
  }
}

// Thrown by `$fatal`, `$stop`, `$finish` and the runtime's own fatal errors, so that they end one
// model and not the process.
class vl_shim_stopped : public std::exception {
 public:
  explicit vl_shim_stopped(const std::string &message) : message_(message) {}
  const char *what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

void vl_shim_record_error(const char *message) noexcept;

// Runs `body`; an exception becomes the recorded error and a non-zero return.
template <class Body>
inline int32_t vl_shim_guarded(Body body) noexcept {
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

// While one lives, fatal errors are recorded instead of thrown: destructors must not throw, and
// Verilator goes on where the handler returns.
class vl_shim_closing final {
 public:
  vl_shim_closing() noexcept;
  ~vl_shim_closing();
  // Whether something went wrong since.
  bool failed() const noexcept;
};

#endif
