; Erlang. See crates/rhumb-syntax/src/query.rs for the captures.

(module_attribute name: (atom) @name) @definition.module

; Functions: the specification above them and their clauses are one definition.
((spec fun: (atom) @name) @definition.function
  (#set! joins "clauses"))
((fun_decl clause: (function_clause name: (atom) @name body: (_) @body)) @definition.function
  (#set! joins "clauses"))
(callback fun: (atom) @name) @definition.function

; Types, records and macros
(type_alias name: (type_name name: (atom) @name)) @definition.type
(opaque name: (type_name name: (atom) @name)) @definition.type
(nominal name: (type_name name: (atom) @name)) @definition.type
(record_decl name: (atom) @name fields: (_) @body) @definition.struct
(record_decl name: (atom) @name !fields) @definition.struct
(record_field name: (atom) @name ty: (field_type)) @definition.field
(record_decl fields: (record_field name: (atom) @name) @definition.field)
(pp_define lhs: (macro_lhs name: [(var) (atom)] @name !args)) @definition.constant
(pp_define lhs: (macro_lhs name: [(var) (atom)] @name args: (_)) replacement: (_) @body) @definition.macro

; Imports
(behaviour_attribute name: (atom) @import @reference)
(import_attribute module: (atom) @import)
(import_attribute funs: (fa fun: (atom) @reference))
(pp_include file: (string) @import)
(pp_include_lib file: (string) @import)

; Calls, and functions handed over by name
(call expr: (atom) @reference)
(remote module: (remote_module module: (atom) @reference))
(internal_fun fun: (atom) @reference)
(external_fun module: (module name: (atom) @reference) fun: (atom) @reference)

; Records, their fields, and macros
(record_name name: (atom) @reference)
(record_field_name name: (atom) @reference)
((macro_call_expr name: [(var) (atom)] @reference)
  (#not-any-of? @reference "MODULE" "FUNCTION_NAME" "LINE" "FILE"))
