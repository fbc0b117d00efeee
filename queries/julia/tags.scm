; Julia. See crates/rhumb-syntax/src/query.rs for the captures.

(module_definition name: (identifier) @name) @definition.module
(module_definition name: (identifier) @name . (_) @body) @definition.module

; Types
(abstract_definition (type_head [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
])) @definition.interface
(primitive_definition (type_head [
  (identifier) @name
  (binary_expression . (identifier) @name)
])) @definition.type
(struct_definition (type_head [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
])) @definition.struct
(struct_definition (type_head [
  (identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
]) . (_) @body) @definition.struct
(struct_definition (typed_expression . (identifier) @name) @definition.field)
(struct_definition (identifier) @name @definition.field)
(struct_definition (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.field)
((macrocall_expression
  (macro_identifier (identifier) @_enum)
  (macro_argument_list . [(identifier) @name (typed_expression . (identifier) @name)] . (_) @body)) @definition.enum
  (#eq? @_enum "enum"))
((macrocall_expression
  (macro_identifier (identifier) @_enum)
  (macro_argument_list (_) [(identifier) @name (assignment . (identifier) @name)] @definition.constant))
  (#eq? @_enum "enum"))

; Functions: of several lines, declared only, of one line, and held by a variable
(function_definition
  (signature [
    (identifier) @name
    (call_expression . [
      (identifier) @name
      (operator) @name
      (field_expression (_) (identifier) @name)
      (field_expression (_) (quote_expression (operator) @name))
      (parametrized_type_expression . (identifier) @name)
    ])
    (typed_expression . (call_expression . [
      (identifier) @name
      (operator) @name
      (field_expression (_) (identifier) @name)
    ]))
    (where_expression . [
      (call_expression . [
        (identifier) @name
        (operator) @name
        (field_expression (_) (identifier) @name)
        (parametrized_type_expression . (identifier) @name)
      ])
      (typed_expression . (call_expression . [(identifier) @name (field_expression (_) (identifier) @name)]))
    ])
  ])
  . (_)? @body) @definition.function
(assignment
  . [
    (call_expression . [
      (identifier) @name
      (operator) @name
      (field_expression (_) (identifier) @name)
      (field_expression (_) (quote_expression (operator) @name))
    ])
    (typed_expression . (call_expression . [(identifier) @name (field_expression (_) (identifier) @name)]))
    (where_expression . [
      (call_expression . [
        (identifier) @name
        (operator) @name
        (field_expression (_) (identifier) @name)
        (parametrized_type_expression . (identifier) @name)
      ])
      (typed_expression . (call_expression . (identifier) @name))
    ])
  ]
  . (operator)
  . (_) @body) @definition.function
((assignment . (identifier) @name (arrow_function_expression) @body) @definition.function
  (#set! only "top-level"))
(macro_definition
  (signature (call_expression . (identifier) @name))
  . (_)? @body) @definition.macro

; Other names of a file or a module
(source_file (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.variable)
(module_definition (assignment . [(identifier) @name (typed_expression . (identifier) @name)]) @definition.variable)
((global_statement (assignment . (identifier) @name)) @definition.variable
  (#set! only "top-level"))
((const_statement (assignment . [
  (identifier) @name
  (typed_expression . (identifier) @name)
  (parametrized_type_expression . (identifier) @name)
])) @definition.constant
  (#set! only "top-level"))

; Imports
(using_statement [(identifier) (scoped_identifier) (import_path)] @import)
(import_statement [(identifier) (scoped_identifier) (import_path)] @import)
(selected_import . [(identifier) (scoped_identifier) (import_path)] @import)
(selected_import (_) [(identifier) (operator)] @reference)
(selected_import (_) (macro_identifier (identifier) @reference))
(import_alias . [(identifier) (scoped_identifier) (import_path)] @import)
((call_expression . (identifier) @_include (argument_list . (string_literal (content) @import)))
  (#eq? @_include "include"))

; Calls
(call_expression . (identifier) @reference)
(call_expression . (field_expression (_) (identifier) @reference))
(call_expression . (parametrized_type_expression . (identifier) @reference))
(broadcast_call_expression . (identifier) @reference)
(broadcast_call_expression . (field_expression (_) (identifier) @reference))
(macro_identifier (identifier) @reference)
((binary_expression (operator) @_pipe . (identifier) @reference .)
  (#any-of? @_pipe "|>" ".|>" "∘"))

; A capital marks types, modules and constants wherever they stand.
((identifier) @reference
  (#match? @reference "^_*[A-Z][A-Za-z0-9_]"))
