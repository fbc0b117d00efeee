; VHDL. See crates/rhumb-syntax/src/query.rs for the captures.

; The comment above an entity or a package stands above the unit that it is.
(design_file (line_comment) @doc . (design_unit
  (entity_declaration entity: (identifier) @name (entity_head) @body) @definition.class))
(design_file (line_comment) @doc . (design_unit
  (package_declaration package: (identifier) @name (package_declaration_body) @body) @definition.module))
(entity_declaration entity: (identifier) @name (entity_head) @body) @definition.class
(architecture_definition architecture: (identifier) @name (architecture_head) @body) @definition.class
(configuration_declaration configuration: (identifier) @name) @definition.class
(package_declaration package: (identifier) @name (package_declaration_body) @body) @definition.module
(package_definition package: (identifier) @name (package_definition_body) @body) @definition.module
(component_declaration component: (identifier) @name (component_body) @body) @definition.interface

(subprogram_declaration [
  (function_specification function: (identifier) @name)
  (procedure_specification procedure: (identifier) @name)
]) @definition.function
(subprogram_definition [
  (function_specification function: (identifier) @name)
  (procedure_specification procedure: (identifier) @name)
] (subprogram_head) @body) @definition.function
(process_statement (label_declaration (label) @name) [(sensitivity_specification) (process_head)] @body) @definition.function

(type_declaration type: (identifier) @name) @definition.type
(type_declaration type: (identifier) @name (enumeration_type_definition)) @definition.enum
(type_declaration type: (identifier) @name "is" @body (record_type_definition)) @definition.struct
(subtype_declaration type: (identifier) @name) @definition.type
(constant_declaration (identifier_list constant: (identifier) @name)) @definition.constant
(signal_declaration (identifier_list (identifier) @name)) @definition.variable

; Imports: a package goes by its library and name.
(use_clause (selected_name_list (selected_name library: (_) @import package: (identifier) @import)))
(use_clause (selected_name_list (selected_name package: (identifier) @reference)))

; Instances, calls, types and signals are all names.
(instantiated_unit entity: (name (identifier) @reference))
(instantiated_unit component: (name (identifier) @reference))
(architecture_definition entity: (name (identifier) @reference))
(name . (identifier) @reference)
