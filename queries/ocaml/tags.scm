; OCaml, besides what is in interface files too. See crates/rhumb-syntax/src/query.rs for the captures.

; Values of a file or a module. What takes a parameter is a function; a plain constant shows its value.
((compilation_unit (value_definition
  (let_binding pattern: (value_name) @name) @definition.constant))
  (#set! prefix "let"))
((structure (value_definition
  (let_binding pattern: (value_name) @name) @definition.constant))
  (#set! prefix "let"))
((compilation_unit (value_definition
  (let_binding pattern: [(value_name) @name (parenthesized_operator (_) @name)] (parameter)) @definition.function))
  (#set! prefix "let"))
((structure (value_definition
  (let_binding pattern: [(value_name) @name (parenthesized_operator (_) @name)] (parameter)) @definition.function))
  (#set! prefix "let"))
((compilation_unit (value_definition
  (let_binding pattern: (value_name) @name body: [(fun_expression) (function_expression)]) @definition.function))
  (#set! prefix "let"))
((structure (value_definition
  (let_binding pattern: (value_name) @name body: [(fun_expression) (function_expression)]) @definition.function))
  (#set! prefix "let"))
((value_definition . (let_binding
  pattern: (value_name) @name
  body: [(number) (signed_number) (string) (quoted_string) (character) (boolean)]) .) @definition.constant
  (#set! only "top-level"))
((compilation_unit (value_definition (let_binding
  pattern: [
    (tuple_pattern (value_name) @name)
    (parenthesized_pattern (tuple_pattern (value_name) @name))
  ]) @definition.constant))
  (#set! prefix "let"))

; Members of classes
(method_definition (method_name) @name body: (_)? @body) @definition.method
(instance_variable_definition (instance_variable_name) @name) @definition.field

; Calls, and functions that stand in a pipeline
(application_expression function: (value_path (value_name) @reference))
((infix_expression operator: (_) @_pipe right: (value_path (value_name) @reference))
  (#any-of? @_pipe "|>" ">>=" ">>|" ">|=" "@@"))
((infix_expression left: (value_path (value_name) @reference) operator: (_) @_pipe)
  (#any-of? @_pipe "@@" "<@>" "<$>"))
((infix_expression operator: [(rel_operator) (concat_operator) (add_operator) (mult_operator) (pow_operator)] @reference)
  (#match? @reference "^[^a-z.][^a-z.]")
  (#not-any-of? @reference "|>" "@@" "<>" "<=" ">=" "==" "!="))
(method_invocation method: (method_name) @reference)
; What another module holds, and what may be a function handed over
(value_path (module_path) (value_name) @reference)
(application_expression argument: (value_path . (value_name) @reference))

; Fields
(field_get_expression field: (field_path (field_name) @reference))
(field_expression (field_path (field_name) @reference))
(field_pattern (field_path (field_name) @reference))
