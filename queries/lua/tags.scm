; Lua. See crates/rhumb-syntax/src/query.rs for the captures.

; Functions. One that belongs to a table shows the table in its signature and has it as its container.
(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(function_declaration
  name: (dot_index_expression table: (identifier) @container field: (identifier) @name)) @definition.method
(function_declaration
  name: (dot_index_expression
    table: (dot_index_expression field: (identifier) @container)
    field: (identifier) @name)) @definition.method
(function_declaration
  name: (method_index_expression table: (identifier) @container method: (identifier) @name)) @definition.method
(function_declaration
  name: (method_index_expression
    table: (dot_index_expression field: (identifier) @container)
    method: (identifier) @name)) @definition.method

; Functions held by variables, members and tables
(chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition body: (_) @body)))) @definition.function)
(chunk (assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition body: (_) @body))) @definition.function)
((assignment_statement
  (variable_list . name: (dot_index_expression table: (identifier) @container field: (identifier) @name))
  (expression_list . value: (function_definition body: (_) @body))) @definition.method
  (#not-eq? @container "self"))
((assignment_statement
  (variable_list . name: (dot_index_expression table: (identifier) @_self field: (identifier) @name))
  (expression_list . value: (function_definition body: (_) @body))) @definition.method
  (#eq? @_self "self"))
(assignment_statement
  (variable_list . name: (dot_index_expression
    table: (dot_index_expression field: (identifier) @container)
    field: (identifier) @name))
  (expression_list . value: (function_definition body: (_) @body))) @definition.method
((field
  name: (identifier) @name
  value: (function_definition body: (_) @body)) @definition.method
  (#set! only "top-level"))

; Other names at the top of a file. A capital marks what serves as a class.
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @definition.variable)
(chunk (assignment_statement (variable_list name: (identifier) @name)) @definition.variable)
(chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (table_constructor)) @body)) @definition.variable)
((chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @definition.constant)
  (#match? @name "^[A-Z][A-Z0-9_]+$"))
((chunk (assignment_statement (variable_list name: (identifier) @name)) @definition.constant)
  (#match? @name "^[A-Z][A-Z0-9_]+$"))
((chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (table_constructor)) @body)) @definition.class)
  (#match? @name "^[A-Z][A-Za-z0-9]*[a-z]"))
((chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (function_call arguments: (arguments . (table_constructor)))) @body)) @definition.class)
  (#match? @name "^[A-Z][A-Za-z0-9]*[a-z]"))
; Members of a table at the top of a file: what a module hands out besides functions
(chunk (assignment_statement
  (variable_list name: (dot_index_expression table: (identifier) @container field: (identifier) @name))) @definition.field)
((assignment_statement
  (variable_list . name: (dot_index_expression field: (identifier) @name))) @ignore
  (#any-of? @name "__index" "__newindex" "__tostring" "__call" "__gc" "__mode" "__metatable" "__eq"))

; `local x = require("x")` imports a name, it does not make one. Nor does `local insert = table.insert`.
((variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (function_call name: (identifier) @_require)))) @ignore
  (#eq? @_require "require"))
((variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (dot_index_expression field: (identifier) @_field)))) @ignore
  (#eq? @_field @name))
((function_call
  name: (identifier) @_require
  arguments: (arguments . (string content: (string_content) @import)))
  (#any-of? @_require "require" "dofile" "import" "include"))

; Calls
(function_call name: (identifier) @reference)
(function_call name: (dot_index_expression field: (identifier) @reference))
(function_call name: (method_index_expression method: (identifier) @reference))

; What is called through: `Tide.new(…)`, `ports.each(…)`
(function_call name: (dot_index_expression table: (identifier) @reference))
(function_call name: (method_index_expression table: (identifier) @reference))
(function_declaration name: (dot_index_expression table: (identifier) @reference))
(function_declaration name: (method_index_expression table: (identifier) @reference))

; Members handed over or kept: `coroutine.wrap(Tide.label)`, `local insert = table.insert`
(arguments (dot_index_expression field: (identifier) @reference))
(expression_list value: (dot_index_expression field: (identifier) @reference))
(field value: (dot_index_expression field: (identifier) @reference))
(field value: (identifier) @reference)

; A capital marks classes and constants wherever they stand.
((identifier) @reference
  (#match? @reference "^_*[A-Z]"))
