; Zig. See crates/rhumb-syntax/src/query.rs for the captures.

(function_declaration name: (identifier) @name) @definition.function
(variable_declaration (identifier) @name . (struct_declaration "{" @body)) @definition.struct
(variable_declaration (identifier) @name . (union_declaration "{" @body)) @definition.struct
(variable_declaration (identifier) @name . (opaque_declaration "{" @body)) @definition.struct
(variable_declaration (identifier) @name . (enum_declaration "{" @body)) @definition.enum
(variable_declaration (identifier) @name (error_set_declaration)) @definition.enum

; What a function that returns a struct puts into it belongs to the function.
(function_declaration
  name: (identifier) @name
  body: (block (expression_statement (return_expression (struct_declaration) @scope))))

; Values of a file or type
(source_file (variable_declaration "const" . (identifier) @name) @definition.constant)
(source_file (variable_declaration "var" . (identifier) @name) @definition.variable)
(struct_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
(struct_declaration (variable_declaration "var" . (identifier) @name) @definition.variable)
(enum_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)
(union_declaration (variable_declaration "const" . (identifier) @name) @definition.constant)

; `const x = @import("x")` and `const x = y.x` import a name, they do not make one.
((variable_declaration
  (identifier) @name
  . (builtin_function (builtin_identifier) @_import)) @ignore
  (#any-of? @_import "@import" "@This" "@cImport"))
(variable_declaration . "const" . (identifier) @name @reference . (field_expression)) @ignore
(variable_declaration "const" . (identifier) @name @reference . (field_expression object: (builtin_function))) @ignore
((builtin_function (builtin_identifier) @_import (arguments (string (string_content) @import)))
  (#any-of? @_import "@import" "@embedFile"))

; Calls
(call_expression function: (identifier) @reference)
(call_expression function: (field_expression member: (identifier) @reference))

; Types
(parameter type: (identifier) @reference)
(error_type (identifier) @reference)
(test_declaration (identifier) @reference)

; A capital marks types.
((identifier) @reference
  (#match? @reference "^[A-Z]"))
