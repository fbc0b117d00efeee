; Java. See crates/rhumb-syntax/src/query.rs for the captures.

(class_declaration name: (identifier) @name) @definition.class
(interface_declaration name: (identifier) @name) @definition.interface
(annotation_type_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(record_declaration name: (identifier) @name) @definition.struct
(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name) @definition.method
(compact_constructor_declaration name: (identifier) @name) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method

((field_declaration
  (modifiers) @_modifiers
  declarator: (variable_declarator name: (identifier) @name)) @definition.constant
  (#match? @_modifiers "\\bstatic\\b")
  (#match? @_modifiers "\\bfinal\\b"))
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @definition.constant

; Calls
(method_invocation name: (identifier) @reference)
(method_reference (_) (identifier) @reference .)

; Annotations
(annotation name: [(identifier) @reference (scoped_identifier name: (identifier) @reference)])
(marker_annotation name: [(identifier) @reference (scoped_identifier name: (identifier) @reference)])

; Imports
(import_declaration (scoped_identifier name: (identifier) @reference))

; Types, in whatever position
(type_identifier) @reference

; A capital marks a class before a dot, or a constant.
((identifier) @reference
  (#match? @reference "^[A-Z]"))

(import_declaration (scoped_identifier) @import)
