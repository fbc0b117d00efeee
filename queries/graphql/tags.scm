; GraphQL, schemas and queries. See crates/rhumb-syntax/src/query.rs for the captures.

(object_type_definition (description)? @doc (name) @name (fields_definition)? @body) @definition.class
(interface_type_definition (description)? @doc (name) @name (fields_definition)? @body) @definition.interface
(enum_type_definition (description)? @doc (name) @name (enum_values_definition)? @body) @definition.enum
(input_object_type_definition (description)? @doc (name) @name (input_fields_definition)? @body) @definition.struct
(scalar_type_definition (description)? @doc (name) @name) @definition.type
(union_type_definition (description)? @doc (name) @name) @definition.type
(directive_definition (description)? @doc (name) @name) @definition.macro

; A field with arguments is called like a method.
(fields_definition (field_definition (description)? @doc (name) @name) @definition.field)
(fields_definition (field_definition (description)? @doc (name) @name (arguments_definition)) @definition.method)
(input_fields_definition (input_value_definition (description)? @doc (name) @name) @definition.field)
(enum_value_definition (description)? @doc (enum_value (name) @name)) @definition.constant

; What is added to a type that stands elsewhere
(object_type_extension (name) @name @reference) @scope
(interface_type_extension (name) @name @reference) @scope
(input_object_type_extension (name) @name @reference) @scope
(enum_type_extension (name) @name @reference) @scope

(operation_definition (name) @name (selection_set) @body) @definition.function
(fragment_definition (fragment_name (name) @name) (selection_set) @body) @definition.type

(named_type (name) @reference)
(fragment_spread (fragment_name (name) @reference))
(directive (name) @reference)
(field (name) @reference)
