extern "C" __attribute__((visibility("default"))) const vl_model_api *{{ symbol }}(void) {
  static const vl_model_api api = {
    VL_SHIM_ABI, vl_runtime(), "{{ top }}", ports, {{ inputs|length + outputs|length }}, sizeof(Inputs), sizeof(Outputs),
    alignof(Inputs), alignof(Outputs), {{ trace.kind if trace else 0 }}, {{ 1 if coverage else 0 }}, "{{ two_evaluations }}", create, destroy, settle,
    edge, run_batch, run_recorded, finish,
    trace_open, trace_dump, trace_close, observe, probe, points, counts,
  };
  return &api;
}
