// Where `$display` and the runtime's messages go: standard error, but for those of failed assertions.

#ifndef VERILATED_PRINT_H_
#define VERILATED_PRINT_H_

#include <cstdarg>
#include <cstdio>

// Takes the message of an assertion that fails in a model that checks assertions, and is not printed: `vl_stop` follows.
bool vl_shim_takes(const char *format, va_list arguments);

static inline int vl_shim_printf(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const bool taken = vl_shim_takes(format, arguments);
  va_end(arguments);
  if (taken) return 0;
  va_start(arguments, format);
  const int printed = std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  return printed;
}

#endif
