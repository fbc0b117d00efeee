; Groovy. See crates/rhumb-syntax/src/query.rs for the captures.

(class_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(annotation_type_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name) @definition.method
(function_definition name: (identifier) @name) @definition.function
(field_declaration . type: (_) declarator: (variable_declarator name: (identifier) @name)) @definition.field
((field_declaration
  (modifiers) @_modifiers
  declarator: (variable_declarator name: (identifier) @name)) @definition.constant
  (#match? @_modifiers "\\bstatic\\b")
  (#match? @_modifiers "\\bfinal\\b"))
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.constant
(program (local_variable_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.variable)

; Imports
(import_declaration (scoped_identifier) @import)
(import_declaration (scoped_identifier name: (identifier) @reference))

; Calls
(method_invocation name: (identifier) @reference)

; Annotations
(annotation name: [(identifier) @reference (scoped_identifier name: (identifier) @reference)])
(marker_annotation name: [(identifier) @reference (scoped_identifier name: (identifier) @reference)])

; Types, in whatever position
(type_identifier) @reference

; A capital marks a class before a dot, or a constant.
((identifier) @reference
  (#match? @reference "^[A-Z]"))
