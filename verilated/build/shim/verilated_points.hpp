// The points of the RTL that Verilator counts (`--coverage-line --coverage-toggle`), taken from the macro with which a model
// tells of them. The runtime's own list of them would be made anew for every model, at a cost of many short cases; here a
// model notes where its counters are, and what they count is asked once.
//
// Included before the sources of a model that counts.

#ifndef VERILATED_POINTS_HPP_
#define VERILATED_POINTS_HPP_

#include "verilated_cov.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace vl_points {

// What a counter counts, in Verilator's words.
struct named {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string page;
  std::string comment;
  std::string lines;
};

// Where the model that is being made notes its points; names only if somebody asks.
struct list {
  std::vector<uint32_t *> counters;
  // Cycles that the model was shown, up to those after which it counts.
  int cycles = 0;
  // Whether the last of them was one of a batch.
  bool in_batch = false;
  // What the counters said before the edge that ended a batch.
  std::vector<uint32_t> before_edge;
  bool with_names = false;
  std::vector<named> names;
};

inline thread_local list *present = nullptr;

inline void note(named &point, const char *key, const std::string &value) {
  if (!std::strcmp(key, "filename")) point.file = value;
  if (!std::strcmp(key, "page")) point.page = value;
  if (!std::strcmp(key, "comment")) point.comment = value;
  if (!std::strcmp(key, "linescov")) point.lines = value;
}
inline void note(named &point, const char *key, int value) {
  if (!std::strcmp(key, "lineno")) point.line = static_cast<uint32_t>(value);
  if (!std::strcmp(key, "column")) point.column = static_cast<uint32_t>(value);
}

inline void keys(named &) {}
template <class Value, class... Rest>
void keys(named &point, const char *key, const Value &value, const Rest &...rest) {
  note(point, key, value);
  keys(point, rest...);
}

// As Verilator 5.006 has it: the counter, then keys and values. Instances that share their counters tell of them again, each time
// but the first with a counter of nothing: `enable` is false.
template <class... Rest>
void insert(bool enable, uint32_t *counter, const Rest &...rest) {
  if (!present || !enable) return;
  present->counters.push_back(counter);
  if (!present->with_names) return;
  named point;
  keys(point, rest...);
  present->names.push_back(std::move(point));
}

// As newer ones have it: the instance comes first.
template <class Name, class... Rest>
void insert(bool enable, const Name &, uint32_t *counter, const Rest &...rest) {
  insert(enable, counter, rest...);
}

// Lets the model that is made while one lives note its points.
class noting final {
 public:
  explicit noting(list &points) { present = &points; }
  ~noting() { present = nullptr; }
  noting(const noting &) = delete;
  noting &operator=(const noting &) = delete;
};

}  // namespace vl_points

#undef VL_COVER_INSERT
#define VL_COVER_INSERT(context, ...) vl_points::insert(enable, __VA_ARGS__)

#endif
