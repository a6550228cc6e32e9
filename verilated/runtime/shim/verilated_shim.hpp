// Shared by the generated model code and the runtime on the C++ side of the interface.

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

// An embedded file. An entry without a name ends a list. A file without a text does not exist.
struct vl_data {
  const char *name;
  const char *text;
  std::size_t length;
};

struct vl_context final : VerilatedContext {
  vl_context();
  ~vl_context();

  // Sets the register values before reset and the seed of random numbers.
  void begin(int mode, int seed);
  // Sets the only plusarg of the model.
  void argument(const char *text);
  // Restarts the random numbers, for `$random(seed)`.
  void reseed(int seed);
  // Whether the next model can reuse the context after `reset`.
  bool is_reusable() const;
  // Resets time, units, formats and errors.
  void reset();

  // The embedded files of the model.
  const vl_data *data = nullptr;

  // The model checks assertions: one that fails is told from `$stop`.
  bool asserts = false;

  // The generator of `$random` and its like; made when the first number is drawn, since most RTL
  // draws none.
  std::shared_ptr<void> generator;
  uint64_t generator_seed = 0;
  // The model writes a trace, was stopped, or does not exist yet, so the context is not reusable.
  bool leaves_traces = true;

 private:
  bool has_argument = false;
  std::size_t fresh_files;
  std::vector<IData> fresh_channels;
};

// Verilator takes seeds, files, arguments and assertions from the thread's current context, so each
// call of a model first sets it. The variable has no constructor, which reduces the check to one
// comparison.
extern __attribute__((visibility("hidden"))) __thread vl_context *vl_shim_current;
void vl_shim_switch(vl_context *context);
// As above for destructors, which may run while the thread ends.
void vl_shim_adopt(vl_context *context) noexcept;

inline void vl_shim_enter(vl_context *context) {
  if (__builtin_expect(vl_shim_current != context, 0)) vl_shim_switch(context);
}

// The random number generator of the current model, of the class in Verilator's version.
// Verilator's own is per thread and restarts whenever any thread seeds a context.
template <class Generator>
inline Generator &vl_shim_generator() {
  vl_context &context = *vl_shim_current;
  if (!context.generator) context.generator = std::make_shared<Generator>(context.generator_seed);
  return *static_cast<Generator *>(context.generator.get());
}

// The generator for Verilators without a class of their own: SplitMix64.
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

// Hashes the name of the register `member` in the instance `scope` below the module `design`. Only
// letters and digits count, so that it does not matter whether Verilator maps the hierarchy to
// classes or to names.
uint64_t vl_shim_register(const char *scope, const char *member, const char *design);

// The hash of a memory element, or of a word of a wide register.
inline uint64_t vl_shim_element(uint64_t name, uint64_t index) {
  return vl_shim_random{name + index}.next();
}

// Register values before reset, by hashed name.
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

// Thrown by `$fatal`, `$stop`, `$finish` and fatal errors of the runtime, which must end one model
// and not the process.
class vl_shim_stopped : public std::exception {
 public:
  explicit vl_shim_stopped(const std::string &message) : message_(message) {}
  const char *what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

void vl_shim_record_error(const char *message) noexcept;

// Runs `body`. Records an exception and returns non-zero.
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

// While one lives, fatal errors are recorded instead of thrown, because destructors must not throw.
// Verilator continues after the handler returns.
class vl_shim_closing final {
 public:
  vl_shim_closing() noexcept;
  ~vl_shim_closing();
  // Whether an error occurred since its construction.
  bool failed() const noexcept;
};

#endif
