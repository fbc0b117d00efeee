; Gleam. See crates/rhumb-syntax/src/query.rs for the captures.

(function name: (identifier) @name) @definition.function
(constant name: (identifier) @name) @definition.constant
(external_type (type_name name: (type_identifier) @name)) @definition.type
(type_alias (type_name name: (type_identifier) @name)) @definition.type
(type_definition
  (type_name name: (type_identifier) @name)
  (data_constructors . (data_constructor) .) @body) @definition.struct
(type_definition
  (type_name name: (type_identifier) @name)
  (data_constructors (data_constructor) . (data_constructor)) @body) @definition.enum
(data_constructor name: (constructor_name) @name) @definition.constant
(data_constructor_argument label: (label) @name) @definition.field

; Imports
(import module: (module) @import)
(unqualified_import name: (_) @reference)

; Calls, and functions handed over
(function_call function: (identifier) @reference)
(function_call function: (field_access field: (label) @reference))
(argument value: (field_access field: (label) @reference))
(binary_expression operator: "|>" right: (identifier) @reference)
(binary_expression operator: "|>" right: (field_access field: (label) @reference))

; Attributes
(attribute name: (identifier) @reference)

; Types and constructors
(type_identifier) @reference
(constructor_name) @reference
