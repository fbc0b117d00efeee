; Fortran. See crates/rhumb-syntax/src/query.rs for the captures.

; The body begins with whatever follows the statement that opens it.
(module . (module_statement (name) @name) . (_) @body) @definition.module
(submodule . (submodule_statement (name) @name) . (_) @body) @definition.module
(program . (program_statement (name) @name) . (_) @body) @definition.module

(function . (function_statement name: (name) @name) . (_) @body) @definition.function
(subroutine . (subroutine_statement name: (name) @name) . (_) @body) @definition.function
(module_procedure . (module_procedure_statement name: (name) @name) . (_) @body) @definition.function

(derived_type_definition . (derived_type_statement (type_name) @name) . (_) @body) @definition.struct
(interface . (interface_statement (name) @name) . (_) @body) @definition.interface
(procedure_statement declarator: (binding (binding_name (identifier) @name))) @definition.method
(derived_type_procedures (procedure_statement declarator: (method_name) @name) @definition.method)

; Constants and variables of a module
(module (variable_declaration declarator: (init_declarator left: (identifier) @name)) @definition.variable)
(module (variable_declaration declarator: (identifier) @name) @definition.variable)
((module (variable_declaration
    attribute: (type_qualifier) @_parameter
    declarator: (init_declarator left: (identifier) @name)) @definition.constant)
  (#any-of? @_parameter "parameter" "PARAMETER" "Parameter"))
(enumerator_statement declarator: (init_declarator left: (identifier) @name)) @definition.constant

; Imports
(use_statement (module_name) @import)
(use_statement (included_items (identifier) @reference))
(include_statement (filename) @import)

; Calls; that of a function looks like the element of an array.
(call_expression . (identifier) @reference)
(call_expression . (derived_type_member_expression (type_member) @reference .))
(subroutine_call subroutine: (identifier) @reference)
(subroutine_call subroutine: (derived_type_member_expression (type_member) @reference .))
(method_name) @reference

; Types
(derived_type name: (type_name) @reference)
(base_type_specifier (identifier) @reference)
