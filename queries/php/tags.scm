; PHP. See crates/rhumb-syntax/src/query.rs for the captures.

(function_definition name: (name) @name) @definition.function
(class_declaration name: (name) @name) @definition.class
(interface_declaration name: (name) @name) @definition.interface
(trait_declaration name: (name) @name) @definition.interface
(enum_declaration name: (name) @name) @definition.enum
(method_declaration name: (name) @name) @definition.method
(namespace_definition name: (namespace_name) @name body: (compound_statement)) @definition.module

; Constants, also those that a call defines
(const_element (name) @name) @definition.constant
(const_declaration (const_element (name) @name) .) @definition.constant
((function_call_expression
  function: (name) @_define
  arguments: (arguments . (argument (string (string_content) @name)))) @definition.constant
  (#any-of? @_define "define" "DEFINE"))

; Properties that others can see, and those that the constructor makes of its parameters
(property_declaration
  [(visibility_modifier ["public" "protected"]) (var_modifier)]
  (property_element name: (variable_name (name) @name))) @definition.field
(class_declaration
  name: (name) @container
  body: (declaration_list (method_declaration parameters: (formal_parameters
    (property_promotion_parameter
      visibility: (visibility_modifier ["public" "protected"])
      name: (variable_name (name) @name)) @definition.field))))

; Functions and other values held by variables of a file
(program (expression_statement (assignment_expression
  left: (variable_name (name) @name)
  right: [
    (anonymous_function body: (_) @body)
    (arrow_function body: (_) @body)
  ]) @definition.function))

; Imports
(namespace_use_declaration (namespace_use_clause . (qualified_name) @import))
(namespace_use_declaration (namespace_name) @import)
(namespace_use_clause (name) @reference)
(namespace_use_clause (qualified_name (name) @reference .))
(include_expression (string (string_content) @import))
(include_once_expression (string (string_content) @import))
(require_expression (string (string_content) @import))
(require_once_expression (string (string_content) @import))
(include_expression (binary_expression right: (string (string_content) @import)))
(include_once_expression (binary_expression right: (string (string_content) @import)))
(require_expression (binary_expression right: (string (string_content) @import)))
(require_once_expression (binary_expression right: (string (string_content) @import)))
(require_once_expression (parenthesized_expression (binary_expression right: (string (string_content) @import))))
(require_expression (parenthesized_expression (binary_expression right: (string (string_content) @import))))

; Calls and constructions
(function_call_expression function: [(name) @reference (qualified_name (name) @reference .)])
(member_call_expression name: (name) @reference)
(nullsafe_member_call_expression name: (name) @reference)
(scoped_call_expression name: (name) @reference)
(object_creation_expression [(name) @reference (qualified_name (name) @reference .)])

; Types, in whatever position
(named_type [(name) @reference (qualified_name (name) @reference .)])
(base_clause [(name) @reference (qualified_name (name) @reference .)])
(class_interface_clause [(name) @reference (qualified_name (name) @reference .)])
(use_declaration [(name) @reference (qualified_name (name) @reference .)])
(attribute . [(name) @reference (qualified_name (name) @reference .)])
(binary_expression operator: "instanceof" right: [(name) @reference (qualified_name (name) @reference .)])

; Classes before `::`, and what is taken from them
(scoped_call_expression scope: [(name) @reference (qualified_name (name) @reference .)])
(scoped_property_access_expression scope: [(name) @reference (qualified_name (name) @reference .)])
(class_constant_access_expression . [(name) @reference (qualified_name (name) @reference .)])
((class_constant_access_expression (name) @reference .)
  (#not-eq? @reference "class"))

; Constants of a file stand among the arguments or in a binary expression as bare names.
((name) @reference
  (#match? @reference "^[A-Z][A-Z0-9_]+$"))
