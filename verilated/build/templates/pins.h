// Generated from the ports Verilator reports. Do not edit.

#pragma once
#include <stddef.h>
#include <stdint.h>

{% for type in types %}
typedef struct { {{ type.member }}; } Bits{{ type.width }};
{% endfor %}
{% for struct in structs %}

typedef struct {{ struct.name }} {
{% for field in struct.fields %}
  Bits{{ field.width }} {{ field.name }};
{% endfor %}
  uint8_t padding[{{ struct.padding }}];
} {{ struct.name }};
#ifndef __cplusplus
_Static_assert(sizeof({{ struct.name }}) == {{ struct.size }}, "{{ struct.name }} is not packed");
{% for field in struct.fields %}
_Static_assert(offsetof({{ struct.name }}, {{ field.name }}) == {{ field.offset }}, "{{ struct.name }} is not packed");
{% endfor %}
#endif
{% endfor %}
