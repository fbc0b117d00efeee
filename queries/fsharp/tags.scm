; F#. See crates/rhumb-syntax/src/query.rs for the captures.

; Modules and namespaces
(named_module name: (long_identifier) @name . (_) @body) @definition.module
(namespace name: (long_identifier) @name . (_) @body) @definition.module
(module_defn (identifier) @name block: (_) @body) @definition.module

; Functions and values
(function_or_value_defn
  (function_declaration_left [(identifier) (op_identifier)] @name)
  body: (_) @body) @definition.function
(function_or_value_defn
  (function_declaration_left (active_pattern (active_pattern_op_name) @name))
  body: (_) @body) @definition.function
((declaration_expression (function_or_value_defn
  (value_declaration_left (identifier_pattern (long_identifier_or_op (identifier) @name)))) @definition.constant)
  (#set! only "top-level"))
((declaration_expression (function_or_value_defn
  (value_declaration_left (identifier_pattern (long_identifier_or_op (identifier) @name)))
  body: (const))) @definition.constant
  (#set! only "top-level"))
(type_extension_elements (function_or_value_defn
  (value_declaration_left (identifier_pattern (long_identifier_or_op (identifier) @name)))
  body: (_) @body) @definition.field)

; Types. In a type a value is a field.
((record_type_defn (type_name type_name: (identifier) @name) block: "{" @body) @definition.struct
  (#set! prefix "type"))
(record_field . (identifier) @name) @definition.field
((union_type_defn (type_name type_name: (identifier) @name) [(union_type_cases)] @body) @definition.enum
  (#set! prefix "type"))
((union_type_case . (identifier) @name) @definition.constant
  (#match? @name "^[A-Z]"))
((enum_type_defn (type_name type_name: (identifier) @name) block: (_) @body) @definition.enum
  (#set! prefix "type"))
(enum_type_case . (identifier) @name) @definition.constant
((type_abbrev_defn (type_name type_name: (identifier) @name)) @definition.type
  (#set! prefix "type"))
((anon_type_defn (type_name type_name: (identifier) @name) block: (_) @body) @definition.class
  (#set! prefix "type"))
((interface_type_defn (type_name type_name: (identifier) @name) block: (_) @body) @definition.interface
  (#set! prefix "type"))
(exception_definition exception_name: (long_identifier) @name) @definition.struct
(type_extension (type_name type_name: (_) @name)) @scope

; Members
(member_defn (method_or_prop_defn name: (property_or_ident method: (identifier) @name) (_) @body .)) @definition.method
(member_defn (method_or_prop_defn name: (property_or_ident . (identifier) @name .) (_) @body .)) @definition.method
(member_defn (member_signature . (identifier) @name)) @definition.method

; Imports
(import_decl (long_identifier) @import)

; Calls, and functions that stand in a pipeline
(application_expression . (long_identifier_or_op (identifier) @reference))
((infix_expression (infix_op) @_pipe . (long_identifier_or_op (identifier) @reference))
  (#any-of? @_pipe "|>" ">>" "<|" "||>"))
(long_identifier (identifier) . (identifier) @reference .)

; Types, classes that are derived from, fields that are set
(simple_type (long_identifier (identifier) @reference .))
(field_initializer field: (long_identifier (identifier) @reference .))

; A capital marks modules, cases and constructors.
((identifier) @reference
  (#match? @reference "^[A-Z]"))
