; C#. See crates/rhumb-syntax/src/query.rs for the captures.

(namespace_declaration name: (_) @name) @definition.module
(file_scoped_namespace_declaration name: (_) @name) @definition.module
(class_declaration name: (identifier) @name) @definition.class
(struct_declaration name: (identifier) @name) @definition.struct
(record_declaration name: (identifier) @name) @definition.struct
(interface_declaration name: (identifier) @name) @definition.interface
(enum_declaration name: (identifier) @name) @definition.enum
(delegate_declaration name: (identifier) @name) @definition.type

(method_declaration name: (identifier) @name) @definition.method
(constructor_declaration name: (identifier) @name) @definition.method

; Properties and events are the interface of a type. An accessor list with code in it is a body.
(property_declaration
  name: (identifier) @name
  !accessors
  value: (arrow_expression_clause) @body) @definition.field
(property_declaration
  name: (identifier) @name
  accessors: (accessor_list (accessor_declaration !body))) @definition.field
(property_declaration
  name: (identifier) @name
  accessors: (accessor_list (accessor_declaration body: (_))) @body) @definition.field
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field
(event_declaration name: (identifier) @name accessors: (accessor_list) @body) @definition.field

; Fields that others can see, and constants whoever sees them
(field_declaration
  (modifier ["public" "internal" "protected"])
  (variable_declaration (variable_declarator name: (identifier) @name))) @definition.field
(field_declaration
  (modifier "const")
  (variable_declaration (variable_declarator name: (identifier) @name))) @definition.constant
(field_declaration
  (modifier "static")
  (modifier "readonly")
  (variable_declaration (variable_declarator name: (identifier) @name))) @definition.constant

; Imports
(using_directive !name [(identifier) (qualified_name) (alias_qualified_name)] @import)
(using_directive name: (identifier) [(identifier) (qualified_name)] @import .)
(using_directive (qualified_name name: (identifier) @reference))

; Calls and constructions
(invocation_expression function: [
  (identifier) @reference
  (generic_name (identifier) @reference)
  (member_access_expression name: (identifier) @reference)
  (member_access_expression name: (generic_name (identifier) @reference))
])
(member_binding_expression name: [(identifier) @reference (generic_name (identifier) @reference)])
(object_creation_expression type: [
  (identifier) @reference
  (generic_name (identifier) @reference)
  (qualified_name name: (identifier) @reference)
  (qualified_name name: (generic_name (identifier) @reference))
])
(attribute name: [(identifier) @reference (qualified_name name: (identifier) @reference)])

; Capitals mark types, members and constants; what has none is a variable. Type parameters are hardly ever more than a letter.
((identifier) @reference
  (#match? @reference "^[A-Z].*[a-z]"))
