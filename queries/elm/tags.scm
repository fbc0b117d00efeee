; Elm. See crates/rhumb-syntax/src/query.rs for the captures.

(module_declaration name: (upper_case_qid) @name exposing: (_) @body) @definition.module

; Functions and values: the type above them and what they are equal to are one definition.
((file (type_annotation name: (lower_case_identifier) @name) @definition.constant)
  (#set! joins "clauses"))
((file (type_annotation
  name: (lower_case_identifier) @name
  typeExpression: (type_expression (arrow))) @definition.function)
  (#set! joins "clauses"))
((file (value_declaration
  functionDeclarationLeft: (function_declaration_left . (lower_case_identifier) @name)
  body: (_) @body) @definition.constant)
  (#set! joins "clauses"))
((file (value_declaration
  functionDeclarationLeft: (function_declaration_left . (lower_case_identifier) @name . (_))
  body: (_) @body) @definition.function)
  (#set! joins "clauses"))
(port_annotation name: (lower_case_identifier) @name) @definition.function

; Types
(type_declaration name: (upper_case_identifier) @name (eq) @body) @definition.enum
(union_variant name: (upper_case_identifier) @name) @definition.constant
(type_alias_declaration name: (upper_case_identifier) @name) @definition.type
(type_alias_declaration
  name: (upper_case_identifier) @name
  (eq) @body
  typeExpression: (type_expression part: (record_type))) @definition.struct
(type_alias_declaration typeExpression: (type_expression part: (record_type
  fieldType: (field_type name: (lower_case_identifier) @name) @definition.field)))

; Imports
(import_clause moduleName: (upper_case_qid) @import @reference)
(import_clause exposing: (exposing_list [
  (exposed_value (lower_case_identifier) @reference)
  (exposed_type (upper_case_identifier) @reference)
]))

; Calls, what is in another module, and functions that stand in a pipeline
(function_call_expr target: (value_expr name: (value_qid (lower_case_identifier) @reference .)))
(value_qid (upper_case_identifier) (lower_case_identifier) @reference)
((bin_op_expr
  part: (operator) @_pipe
  . part: (value_expr name: (value_qid . (lower_case_identifier) @reference)))
  (#any-of? @_pipe "|>" "<|" ">>" "<<"))
((bin_op_expr
  part: (value_expr name: (value_qid . (lower_case_identifier) @reference))
  . part: (operator) @_pipe)
  (#any-of? @_pipe "<|" ">>" "<<"))
(field_access_expr (lower_case_identifier) @reference .)
(field_accessor_function_expr (lower_case_identifier) @reference)

; Types and constructors
(type_ref (upper_case_qid (upper_case_identifier) @reference .))
(value_expr name: (upper_case_qid (upper_case_identifier) @reference .))
(union_pattern constructor: (upper_case_qid (upper_case_identifier) @reference .))
