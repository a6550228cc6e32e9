namespace {

// Whether the top registers its inputs, so that a cycle takes one heavy evaluation instead of two.
constexpr bool registered = {{ "true" if registered else "false" }};

// Drives the inputs of a cycle, together with the edge that ends the previous cycle if it is due.
template <class Top>
inline void present(Top &top, const Inputs &pins, bool edge_due) {
  if constexpr (registered) {
    drive(top, pins);
    top.cosim_load = 1;
    top.{{ clock }} = edge_due;
    top.eval();
  } else {
    if (edge_due) {
      top.{{ clock }} = 1;
      top.eval();
    }
    drive(top, pins);
    top.{{ clock }} = 0;
    top.eval();
  }
}

// Sets both clocks low in Verilator's edge detection, if the class has these members (named as in
// 5.006 or as in later versions), and returns true. Nothing in a registered top reacts to a falling
// edge, so an evaluation would have no other effect.
template <class Root>
auto lower(Root &root, int) -> decltype(root.__Vtrigrprev__TOP__{{ clock }}, root.__Vtrigrprev__TOP__cosim_load, bool()) {
  root.__Vtrigrprev__TOP__{{ clock }} = 0;
  root.__Vtrigrprev__TOP__cosim_load = 0;
  return true;
}
template <class Root>
auto lower(Root &root, int)
    -> decltype(root.__Vtrigprevexpr___TOP__{{ clock }}__0, root.__Vtrigprevexpr___TOP__cosim_load__0, bool()) {
  root.__Vtrigprevexpr___TOP__{{ clock }}__0 = 0;
  root.__Vtrigprevexpr___TOP__cosim_load__0 = 0;
  return true;
}
template <class Root>
bool lower(Root &, long) {
  return false;
}

// The falling edge of the input registers' clock, and of the design's clock if it rose, too.
template <class Top>
inline void rest(Top &top) {
  if constexpr (registered) {
    top.cosim_load = 0;
    top.{{ clock }} = 0;
    if (!lower(*top.rootp, 0)) top.eval();
  }
}

int32_t settle(vl_model *model, const void *inputs, void *outputs) noexcept {
  return call(model, [&] {
    {{ class }} &top = *model->top;
    present(top, *static_cast<const Inputs *>(inputs), false);
    sample(top, *static_cast<Outputs *>(outputs));
    rest(top);
    model->edge_due = false;
    shown(*model, false);
  });
}

int32_t edge(vl_model *model) noexcept {
  return call(model, [&] {
    before_edge(*model);
    model->top->{{ clock }} = 1;
    model->top->eval();
    model->edge_due = false;
  });
}

int32_t run_batch(vl_model *model, const void *inputs, const void *expected, const void *open,
                  size_t count, size_t *done, void *actual) noexcept {
  // Another thread may read it while the batch runs.
  const auto report = [&](size_t cycle) { __atomic_store_n(done, cycle, __ATOMIC_RELAXED); };
  report(0);
  return call(model, [&] {
    {{ class }} &top = *model->top;
    const Inputs *const driven = static_cast<const Inputs *>(inputs);
    const Outputs *const wanted = static_cast<const Outputs *>(expected);
    const Outputs *const ignored = static_cast<const Outputs *>(open);
    const auto run = [&](auto differs) {
      for (size_t cycle = 0; cycle < count;) {
        present(top, driven[cycle], model->edge_due);
        model->edge_due = true;
        if (differs(cycle)) {
          sample(top, *static_cast<Outputs *>(actual));
          return;
        }
        rest(top);
        shown(*model, true);
        report(++cycle);
      }
    };
    // Two loops: blocks that compare every bit do not read masks.
    if (ignored)
      run([&](size_t cycle) { return difference(top, wanted[cycle], ignored[cycle]) != 0; });
    else
      run([&](size_t cycle) { return difference(top, wanted[cycle]) != 0; });
  });
}

int32_t run_recorded(vl_model *model, const void *inputs, size_t count, void *outputs) noexcept {
  return call(model, [&] {
    {{ class }} &top = *model->top;
    const Inputs *const recorded = static_cast<const Inputs *>(inputs);
    for (size_t cycle = 0; cycle < count; ++cycle) {
      present(top, recorded[cycle], cycle > 0);
      if (cycle + 1 == count) sample(top, *static_cast<Outputs *>(outputs));
      rest(top);
    }
    if (count > 0) top.{{ clock }} = 1;
    top.eval();
    model->edge_due = false;
  });
}

}  // namespace

