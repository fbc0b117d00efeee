; Scala. See crates/rhumb-syntax/src/query.rs for the captures.

(class_definition name: (identifier) @name) @definition.class
(object_definition name: (identifier) @name) @definition.class
(package_object name: (identifier) @name) @definition.module
(trait_definition name: (identifier) @name) @definition.interface
(enum_definition name: (identifier) @name) @definition.enum
(full_enum_case name: (identifier) @name) @definition.class
(type_definition name: (type_identifier) @name) @definition.type
(given_definition name: (identifier) @name) @definition.constant
(given_definition name: (identifier) @name body: (with_template_body)) @definition.class

(function_definition name: (identifier) @name) @definition.function
(function_declaration name: (identifier) @name) @definition.function

; What a nameless given holds belongs to its type.
(given_definition !name return_type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
]) @scope

; The functions of an extension belong to the type that it extends.
(extension_definition parameters: (parameters (parameter type: [
  (type_identifier) @name
  (generic_type type: (type_identifier) @name)
]))) @scope

; Values of a file, and members that others can see
(compilation_unit (val_definition pattern: (identifier) @name) @definition.variable)
(compilation_unit (var_definition pattern: (identifier) @name) @definition.variable)
(template_body (val_definition pattern: (identifier) @name) @definition.field)
(template_body (var_definition pattern: (identifier) @name) @definition.field)
(template_body (val_declaration name: (identifier) @name) @definition.field)
(template_body (var_declaration name: (identifier) @name) @definition.field)
((compilation_unit (val_definition pattern: (identifier) @name) @definition.constant)
  (#match? @name "^[A-Z]"))
((template_body (val_definition pattern: (identifier) @name) @definition.constant)
  (#match? @name "^[A-Z]"))
(template_body (val_definition (modifiers (access_modifier "private")) pattern: (identifier) @name) @ignore)
(template_body (var_definition (modifiers (access_modifier "private")) pattern: (identifier) @name) @ignore)

; Imports
(import_declaration (identifier) @import)
(import_declaration (identifier) @reference .)
(namespace_selectors (identifier) @reference)
(as_renamed_identifier name: (identifier) @reference)
(arrow_renamed_identifier name: (identifier) @reference)

; Calls
(call_expression function: [
  (identifier) @reference
  (field_expression field: (identifier) @reference)
])
(generic_function function: [
  (identifier) @reference
  (field_expression field: (identifier) @reference)
])
(infix_expression operator: (identifier) @reference)

; Types, in whatever position
(type_identifier) @reference

; A capital marks objects, extractors and constants.
((identifier) @reference
  (#match? @reference "^[A-Z]"))
