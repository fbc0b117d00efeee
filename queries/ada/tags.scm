; Ada. See crates/rhumb-syntax/src/query.rs for the captures.

(package_declaration name: (_) @name "is" @body) @definition.module
(package_body name: (_) @name "is" @body) @definition.module

(full_type_declaration (identifier) @name) @definition.type
(full_type_declaration (identifier) @name "is" @body (record_type_definition)) @definition.struct
(full_type_declaration
  (identifier) @name
  (derived_type_definition (record_extension_part (record_definition) @body))) @definition.struct
(full_type_declaration (identifier) @name (enumeration_type_definition)) @definition.enum
(full_type_declaration (identifier) @name (interface_type_definition)) @definition.interface
(private_type_declaration (identifier) @name) @definition.type
(private_extension_declaration (identifier) @name) @definition.type
(incomplete_type_declaration (identifier) @name) @definition.type
(subtype_declaration . (identifier) @name) @definition.type
(exception_declaration (identifier) @name) @definition.type

(subprogram_declaration [
  (function_specification name: (identifier) @name)
  (procedure_specification name: (identifier) @name)
]) @definition.function
(subprogram_body [
  (function_specification name: (identifier) @name)
  (procedure_specification name: (identifier) @name)
] "is" @body) @definition.function
(generic_subprogram_declaration [
  (function_specification name: (identifier) @name)
  (procedure_specification name: (identifier) @name)
]) @definition.function
(expression_function_declaration
  (function_specification name: (identifier) @name)
  "is" @body) @definition.function
(entry_declaration entry_name: (identifier) @name) @definition.method
(single_task_declaration . (identifier) @name "is" @body) @definition.class
(single_protected_declaration . (identifier) @name "is" @body) @definition.class
(generic_instantiation name: (identifier) @name) @definition.function

; Constants and variables, but for those of subprograms
((object_declaration name: (identifier) @name) @definition.variable
  (#set! only "top-level"))
((object_declaration name: (identifier) @name "constant") @definition.constant
  (#set! only "top-level"))
(number_declaration . (identifier) @name) @definition.constant

; Imports
(with_clause [(identifier) (selected_component)] @import)

; Calls; a call without arguments looks like any name.
(procedure_call_statement name: (identifier) @reference)
(procedure_call_statement name: (selected_component selector_name: (identifier) @reference))
(function_call name: (identifier) @reference)
(function_call name: (selected_component selector_name: (identifier) @reference))
(generic_instantiation generic_name: (identifier) @reference)
(generic_instantiation generic_name: (selected_component selector_name: (identifier) @reference))
(raise_statement name: (identifier) @reference)

; Types, in whatever position
(_ subtype_mark: (identifier) @reference)
(_ subtype_mark: (selected_component selector_name: (identifier) @reference))
(derived_type_definition (identifier) @reference)
