; Go. See crates/rhumb-syntax/src/query.rs for the captures.

(function_declaration name: (identifier) @name) @definition.function

; Methods belong to the type of their receiver.
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @container
    (generic_type type: (type_identifier) @container)
    (pointer_type (type_identifier) @container)
    (pointer_type (generic_type type: (type_identifier) @container))
  ]))
  name: (field_identifier) @name) @definition.method

((type_spec
  name: (type_identifier) @name
  type: (struct_type (field_declaration_list) @body)) @definition.struct
  (#set! prefix "type"))
((type_spec
  name: (type_identifier) @name
  type: (interface_type "{" @body)) @definition.interface
  (#set! prefix "type"))
((type_spec name: (type_identifier) @name) @definition.type
  (#set! prefix "type"))
((type_alias name: (type_identifier) @name) @definition.type
  (#set! prefix "type"))
(interface_type (method_elem name: (field_identifier) @name) @definition.method)

((const_spec name: (identifier) @name) @definition.constant
  (#set! only "top-level")
  (#set! prefix "const"))
((var_spec name: (identifier) @name) @definition.variable
  (#set! only "top-level")
  (#set! prefix "var"))

; Calls
(call_expression function: (identifier) @reference)
(call_expression function: (selector_expression field: (field_identifier) @reference))
(call_expression function: (index_expression operand: (identifier) @reference))
(type_instantiation_expression type: (type_identifier) @reference)

; Types, in whatever position, other than those of the language
((type_identifier) @reference
  (#not-any-of? @reference
    "any" "bool" "byte" "comparable" "complex128" "complex64" "error" "float32" "float64" "int" "int16" "int32"
    "int64" "int8" "rune" "string" "uint" "uint16" "uint32" "uint64" "uint8" "uintptr"))

; What a package exports, used as a value
((selector_expression field: (field_identifier) @reference)
  (#match? @reference "^[A-Z]"))
((identifier) @reference
  (#match? @reference "^[A-Z]"))

(import_spec path: (_) @import)
