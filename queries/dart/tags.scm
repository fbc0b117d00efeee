; Dart. See crates/rhumb-syntax/src/query.rs for the captures.

(class_declaration name: (identifier) @name) @definition.class
(mixin_declaration name: (identifier) @name) @definition.class
(enum_declaration name: (identifier) @name) @definition.enum
(type_alias . (type_identifier) @name) @definition.type
(type_alias (type) . (type_identifier) @name) @definition.type
(extension_type_declaration name: (_) @name) @definition.class

; An extension belongs to its type, and is imported by its own name.
(extension_declaration name: (identifier) @name) @definition.class

; Functions of a file
(function_declaration signature: (function_signature name: (identifier) @name)) @definition.function
(external_function_declaration signature: (function_signature name: (identifier) @name)) @definition.function
(getter_declaration signature: (getter_signature name: (identifier) @name)) @definition.function
(setter_declaration signature: (setter_signature name: (identifier) @name)) @definition.function

; Members
(member_declaration (method_declaration
  signature: (method_signature [
    (function_signature name: (identifier) @name)
    (getter_signature name: (identifier) @name)
    (setter_signature name: (identifier) @name)
  ])
  body: (function_body) @body)) @definition.method
(member_declaration (declaration [
  (function_signature name: (identifier) @name)
  (getter_signature name: (identifier) @name)
  (setter_signature name: (identifier) @name)
])) @definition.method

; Constructors; that of a name goes by it
(member_declaration (declaration [
  (constructor_signature name: (identifier) @name . parameters: (_))
  (constant_constructor_signature name: (identifier) @name . parameters: (_))
])) @definition.method
(member_declaration (method_declaration
  signature: (method_signature [
    (constructor_signature name: (identifier) @name . parameters: (_))
    (factory_constructor_signature name: (identifier) @name . parameters: (_))
  ])
  body: (function_body) @body)) @definition.method

; Values of a file, and members that others can see
(top_level_variable_declaration (initialized_identifier_list
  (initialized_identifier name: (identifier) @name))) @definition.variable
(top_level_variable_declaration (static_final_declaration_list
  (static_final_declaration name: (identifier) @name))) @definition.variable
(top_level_variable_declaration
  modifier: "const"
  (static_final_declaration_list (static_final_declaration name: (identifier) @name))) @definition.constant
((member_declaration (declaration (initialized_identifier_list
  (initialized_identifier name: (identifier) @name)))) @definition.field
  (#not-match? @name "^_"))
(member_declaration (declaration (static_final_declaration_list
  (static_final_declaration name: (identifier) @name)))) @definition.constant

; Imports
(import_specification uri: (configurable_uri (uri) @import))
(library_export uri: (configurable_uri (uri) @import))
(part_directive uri: (uri) @import)
(part_of_directive (uri) @import)
(combinator (identifier) @reference)

; Calls
(call_expression function: [
  (identifier) @reference
  (member_expression property: (identifier) @reference)
  (null_aware_member_expression property: (identifier) @reference)
])
(cascade_call_expression property: (identifier) @reference)
(annotation name: (identifier) @reference)

; Types, in whatever position
(type_identifier) @reference

; A capital marks classes.
((identifier) @reference
  (#match? @reference "^[A-Z]"))
