; PowerShell. See crates/rhumb-syntax/src/query.rs for the captures.

((function_statement (function_name) @name) @definition.function
  (#set! segment "last"))
(class_statement . (simple_name) @name) @definition.class
(enum_statement . (simple_name) @name) @definition.enum
(enum_member . (simple_name) @name) @definition.constant
((class_property_definition (variable) @name) @definition.field
  (#set! segment "last"))
(class_method_definition (simple_name) @name (script_block)? @body) @definition.method
((command
  command_name: (command_name) @_alias
  command_elements: (command_elements
    (command_parameter) @_name
    . (command_argument_sep)
    . (generic_token) @name)) @definition.function
  (#any-of? @_alias "Set-Alias" "New-Alias")
  (#eq? @_name "-Name"))

; Variables at the top of a file
((program (statement_list (pipeline (assignment_expression
  (left_assignment_expression (logical_expression (bitwise_expression (comparison_expression (additive_expression
    (multiplicative_expression (format_expression (range_expression (array_literal_expression (unary_expression [
      (variable) @name
      (expression_with_unary_operator (cast_expression (unary_expression (variable) @name)))
    ]))))))))))) @definition.variable)))
  (#set! segment "last"))

; Imports
((command
  command_name: (command_name) @_using
  command_elements: (command_elements
    . (command_argument_sep)
    . (generic_token)
    . (command_argument_sep)
    . (generic_token) @import))
  (#eq? @_using "using"))
((command
  command_name: (command_name) @_import
  command_elements: (command_elements . (command_argument_sep) . (generic_token) @import))
  (#eq? @_import "Import-Module"))
((command
  (command_invokation_operator) @_dot
  command_name: (command_name_expr [(command_name) (string_literal)] @import))
  (#eq? @_dot "."))

; Commands and methods that are called
((command command_name: (command_name) @reference)
  (#not-any-of? @reference "using" "param" "Write-Host" "Write-Verbose" "Where-Object" "ForEach-Object" "Import-Module"))
((command (command_invokation_operator) @_call command_name: (command_name_expr (command_name) @reference))
  (#eq? @_call "&"))
(invokation_expression (member_name (simple_name) @reference))

; Commands handed over by name: `Export-ModuleMember -Function Get-Tide`
((generic_token) @reference
  (#match? @reference "^[A-Z][a-z]+-[A-Z][A-Za-z]+$"))

; Types, and what a class derives from
((type_identifier) @reference
  (#not-any-of? @reference "string" "int" "double" "bool" "object" "switch" "void" "hashtable" "array" "Parameter"))
(class_statement . (simple_name) (simple_name) @reference)
