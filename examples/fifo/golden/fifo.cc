// The golden model in C++, written from README.md.

#include "fifo_golden.h"
#include <cstring>
#include <deque>

struct fifo_golden {
  size_t depth = 0;
  std::deque<uint8_t> items;
};

fifo_golden *fifo_golden_new(const cosim_parameter *parameters, size_t count) {
  auto *model = new fifo_golden;
  for (size_t index = 0; index < count; index++) {
    if (!std::strcmp(parameters[index].name, "DEPTH")) model->depth = parameters[index].value;
  }
  return model;
}

void fifo_golden_free(fifo_golden *model) { delete model; }

void fifo_golden_outputs(const fifo_golden *model, const Inputs *inputs, Outputs *outputs,
                         Outputs *open) {
  const bool is_on = !inputs->rst.value;
  const bool has_item = is_on && !model->items.empty();
  outputs->push_ready.value = is_on && model->items.size() < model->depth;
  outputs->pop_valid.value = has_item;
  outputs->pop_data.value = has_item ? model->items.front() : 0;
  // Data without valid is not compared.
  if (!has_item) open->pop_data.value = 0xff;
}

void fifo_golden_clock(fifo_golden *model, const Inputs *inputs, uint64_t *) {
  if (inputs->rst.value) {
    model->items.clear();
    return;
  }
  const bool has_room = model->items.size() < model->depth;
  const bool has_item = !model->items.empty();
  if (has_item && inputs->pop_ready.value) model->items.pop_front();
  if (has_room && inputs->push_valid.value) model->items.push_back(inputs->push_data.value);
}

const char *fifo_golden_state(const fifo_golden *model) {
  if (model->items.empty()) return "EMPTY";
  return model->items.size() == model->depth ? "FULL" : "FILLED";
}
