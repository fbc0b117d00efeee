; Swift. See crates/rhumb-syntax/src/query.rs for the captures.

(class_declaration declaration_kind: "class" name: (type_identifier) @name) @definition.class
(class_declaration declaration_kind: "actor" name: (type_identifier) @name) @definition.class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @definition.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @definition.enum
(protocol_declaration name: (type_identifier) @name) @definition.interface
(typealias_declaration name: (type_identifier) @name) @definition.type
(macro_declaration (simple_identifier) @name) @definition.macro

; What an extension adds belongs to its type.
(class_declaration declaration_kind: "extension" name: (user_type (type_identifier) @name .)) @scope

(function_declaration name: (simple_identifier) @name) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.method
(init_declaration name: "init" @name) @definition.method

; Values of a file, and members that others can see
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.variable)
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field)
(source_file (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_) @body) @definition.variable)
(class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_) @body) @definition.field)
(enum_class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_) @body) @definition.field)
(source_file (property_declaration
  (value_binding_pattern mutability: "let")
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)
(class_body (property_declaration
  (modifiers (property_modifier "static"))
  (value_binding_pattern mutability: "let")
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)
(enum_class_body (property_declaration
  (modifiers (property_modifier "static"))
  (value_binding_pattern mutability: "let")
  name: (pattern bound_identifier: (simple_identifier) @name)) @definition.constant)
(class_body (property_declaration
  (modifiers (visibility_modifier ["private" "fileprivate"] .))
  name: (pattern bound_identifier: (simple_identifier) @name)) @ignore)
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @definition.field

; Imports
(import_declaration (identifier) @import)

; Calls
(call_expression . (simple_identifier) @reference)
((call_expression . (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @reference)))
  (#not-eq? @reference "init"))
(constructor_expression constructed_type: (user_type (type_identifier) @reference .))
(macro_invocation . (simple_identifier) @reference)

; Members whose type is left out: `.flood`
(prefix_expression operation: "." target: (simple_identifier) @reference)
(call_expression . (prefix_expression operation: "." target: (simple_identifier) @reference))

; Selectors and key paths
(selector_expression (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @reference)))
(selector_expression (simple_identifier) @reference)
(key_path_expression (type_identifier) @reference)

; Types, in whatever position
(type_identifier) @reference

; A capital marks a type before a dot.
((simple_identifier) @reference
  (#match? @reference "^[A-Z]"))
