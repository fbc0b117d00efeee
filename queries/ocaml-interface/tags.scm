; Interface files of OCaml, and what module types in other files share with them. See crates/rhumb-syntax/src/query.rs for the captures.

; Types
(type_definition . (type_binding name: (type_constructor) @name) .) @definition.type
((type_binding name: (type_constructor) @name) @definition.type
  (#set! prefix "type"))
((type_binding name: (type_constructor) @name body: (record_declaration) @body) @definition.struct
  (#set! prefix "type"))
((type_binding name: (type_constructor) @name body: (variant_declaration) @body) @definition.enum
  (#set! prefix "type"))
(constructor_declaration (constructor_name) @name) @definition.constant
(field_declaration (field_name) @name) @definition.field
(exception_definition (constructor_declaration (constructor_name) @name)) @definition.struct
(external (value_name) @name) @definition.function

; Modules and classes
(module_definition (module_binding (module_name) @name)) @definition.module
(module_definition (module_binding (module_name) @name body: (structure) @body)) @definition.module
(module_definition (module_binding (module_name) @name module_type: (signature) @body)) @definition.module
(module_type_definition (module_type_name) @name body: (_)? @body) @definition.interface
(class_type_definition (class_type_binding (class_type_name) @name body: (_)? @body)) @definition.interface
(class_definition (class_binding (class_name) @name body: (_) @body)) @definition.class
(class_definition (class_binding
  (class_name) @name
  class_type: (class_function_type codomain: (_) @body) !body)) @definition.class
(class_definition (class_binding (class_name) @name class_type: (class_body_type) @body !body)) @definition.class
(method_specification (method_name) @name) @definition.method
(value_specification (value_name) @name) @definition.constant
(value_specification (value_name) @name type: (function_type)) @definition.function
(value_specification (value_name) @name type: (polymorphic_type (function_type))) @definition.function
(value_specification (parenthesized_operator (_) @name)) @definition.function

; Imports
(open_module module: (_) @import)
(include_module module: (module_path) @import)
(open_module_signature module: (_) @import)
(include_module_type module_type: (module_type_path) @import)
(include_module_type module_type: (module_type_constraint module_type: (module_type_path) @import))

; Types, classes, constructors and modules, in whatever position
((type_constructor_path (type_constructor) @reference)
  (#not-any-of? @reference "t" "int" "float" "string" "bool" "unit" "char" "list" "option" "array" "exn"))
(module_type_path (module_type_name) @reference)
(class_path (class_name) @reference)
(class_type_path (class_type_name) @reference)
(constructor_path (constructor_name) @reference)
(module_path (module_name) @reference)
(extended_module_path (module_name) @reference)
