
; C++ alone

(class_specifier name: (type_identifier) @name body: (_)) @definition.class
(class_specifier name: (template_type name: (type_identifier) @name) body: (_)) @definition.class
(class_specifier name: (qualified_identifier name: (type_identifier) @name) body: (_)) @definition.class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_)) @definition.struct
(namespace_definition name: (_) @name) @definition.module
(alias_declaration name: (type_identifier) @name) @definition.type
(concept_definition name: (identifier) @name) @definition.interface

; Functions that return references
(function_definition declarator: (reference_declarator
  (function_declarator declarator: (identifier) @name))) @definition.function
((declaration declarator: (reference_declarator
  (function_declarator declarator: (identifier) @name))) @definition.function
  (#set! only "top-level"))

; Members, defined or declared in the class
(function_definition
  declarator: [
    (function_declarator declarator: [(field_identifier) (destructor_name) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  ]) @definition.function
(field_declaration
  declarator: [
    (function_declarator declarator: [(field_identifier) (operator_name)] @name)
    (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))
    (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))
  ]) @definition.method
(field_declaration_list
  (declaration declarator: (function_declarator declarator: [(identifier) (destructor_name)] @name)) @definition.method)

; Members defined outside of the class, or functions outside of their namespace
(function_definition
  declarator: [
    (function_declarator declarator: (qualified_identifier
      scope: [(namespace_identifier) @container (template_type name: (type_identifier) @container)]
      name: [(identifier) (destructor_name) (operator_name)] @name))
    (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier
      scope: [(namespace_identifier) @container (template_type name: (type_identifier) @container)]
      name: [(identifier) (operator_name)] @name)))
    (reference_declarator (function_declarator declarator: (qualified_identifier
      scope: [(namespace_identifier) @container (template_type name: (type_identifier) @container)]
      name: [(identifier) (operator_name)] @name)))
    (function_declarator declarator: (qualified_identifier name: (qualified_identifier
      scope: [(namespace_identifier) @container (template_type name: (type_identifier) @container)]
      name: [(identifier) (destructor_name) (operator_name)] @name)))
  ]) @definition.method

; Calls
(call_expression function: (qualified_identifier name: (identifier) @reference))
(call_expression function: (qualified_identifier name: (qualified_identifier name: (identifier) @reference)))
(template_function name: (identifier) @reference)
(template_method name: (field_identifier) @reference)

; A capital before `::` is a class.
((namespace_identifier) @reference
  (#match? @reference "^[A-Z]"))
(using_declaration (qualified_identifier name: (identifier) @reference))
(base_class_clause (qualified_identifier name: (type_identifier) @reference))
(field_initializer (template_method name: (field_identifier) @reference))
