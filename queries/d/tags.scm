; D. See crates/rhumb-syntax/src/query.rs for the captures.

(class_declaration (identifier) @name (aggregate_body) @body) @definition.class
(struct_declaration (identifier) @name (aggregate_body) @body) @definition.struct
(union_declaration (identifier) @name (aggregate_body) @body) @definition.struct
(interface_declaration (identifier) @name (aggregate_body) @body) @definition.interface
(enum_declaration . (enum) . (identifier) @name) @definition.enum
(template_declaration (identifier) @name) @definition.module
(alias_initializer . (identifier) @name) @definition.type
(alias_declaration (alias_initializer . (identifier) @name)) @definition.type

(function_declaration (identifier) @name (function_body) @body) @definition.function
(constructor (this) @name (function_body) @body) @definition.method

; Values of a module and members of types
(manifest_constant (manifest_declarator . (identifier) @name)) @definition.constant
(module_def (variable_declaration (declarator . (identifier) @name)) @definition.variable)
(source_file (variable_declaration (declarator . (identifier) @name)) @definition.variable)
(aggregate_body (variable_declaration (declarator . (identifier) @name)) @definition.field)

; Imports
(imported (module_fqn) @import)
(import_bind (identifier) @reference)

; Calls, also of templates
(call_expression . (identifier) @reference)
(call_expression . (property_expression (identifier) @reference .))
(call_expression . (type (identifier) @reference .))
(template_instance . (identifier) @reference)
(template_mixin (identifier) @reference)

; Types, in whatever position
(type (identifier) @reference)
(base_class (identifier) @reference)

; A capital marks types before a dot.
((property_expression . (identifier) @reference)
  (#match? @reference "^[A-Z]"))
((identifier) @reference
  (#match? @reference "^[A-Z][A-Za-z]"))
