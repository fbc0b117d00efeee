
; TypeScript alone

(interface_declaration name: (_) @name) @definition.interface
(abstract_class_declaration name: (_) @name) @definition.class
(enum_declaration name: (_) @name) @definition.enum
(internal_module name: (_) @name) @definition.module
(module name: (_) @name) @definition.module
(function_signature name: (_) @name) @definition.function
(type_alias_declaration name: (_) @name) @definition.type

(method_signature name: [(property_identifier) (private_property_identifier)] @name) @definition.method
(abstract_method_signature name: [(property_identifier) (private_property_identifier)] @name) @definition.method

; A property that holds a function is called like a method.
(property_signature
  name: (property_identifier) @name
  type: (type_annotation (function_type))) @definition.method
(public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
  ]) @definition.method

(ambient_declaration (lexical_declaration . (variable_declarator name: (identifier) @name)) @definition.variable)
(ambient_declaration (variable_declaration . (variable_declarator name: (identifier) @name)) @definition.variable)

(extends_clause value: (identifier) @reference)
(extends_clause value: (member_expression property: (property_identifier) @reference))
(type_query (identifier) @reference)
(instantiation_expression function: (identifier) @reference)

; Types, in whatever position
(type_identifier) @reference

(import_require_clause source: (string) @import)
