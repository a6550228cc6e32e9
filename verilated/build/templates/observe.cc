namespace {

{% if observing %}
// Passes the golden model's outputs and the names of its state and rule to an observing top.
int32_t observe(vl_model *model, uint64_t cycle, const void *inputs, const void *outputs,
                const uint32_t *state, const uint32_t *rule) noexcept {
  auto &root = *model->top->rootp;
  const Outputs &pins = *static_cast<const Outputs *>(outputs);
  root.cosim_top__DOT__{{ observing.cycle }} = cycle;
  std::memcpy(&{{ observing.golden }}{{ observing.state }}[0], state, sizeof(uint32_t) * VL_TEXT_WORDS);
  std::memcpy(&{{ observing.golden }}{{ observing.rule }}[0], rule, sizeof(uint32_t) * VL_TEXT_WORDS);
{% for pin in outputs %}
{% if pin.words %}
  std::memcpy(&{{ observing.golden }}{{ pin.member }}[0], pins.{{ pin.name }}.value, sizeof pins.{{ pin.name }}.value);
{% if pin.mask %}
  {{ observing.golden }}{{ pin.member }}[{{ pin.words - 1 }}] &= {{ pin.mask }};
{% endif %}
{% else %}
  {{ observing.golden }}{{ pin.member }} = pins.{{ pin.name }}.value{% if pin.mask %} & {{ pin.mask }}{% endif %};
{% endif %}
{% endfor %}
  return call(model, [&] {
    drive(*model->top, *static_cast<const Inputs *>(inputs));
    model->top->eval();
  });
}
// The RTL's state register.
uint64_t probe(vl_model *model) noexcept { return model->top->cosim_dut_state; }
{% else %}
int32_t observe(vl_model *, uint64_t, const void *, const void *, const uint32_t *,
                const uint32_t *) noexcept {
  return 0;
}
uint64_t probe(vl_model *) noexcept { return 0; }
{% endif %}

}  // namespace

