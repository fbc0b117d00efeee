; Verilog and SystemVerilog. See crates/rhumb-syntax/src/query.rs for the captures.

(module_declaration (module_header (simple_identifier) @name)) @definition.module
(module_declaration (module_header (simple_identifier) @name) . [(module_ansi_header) (module_nonansi_header)] . (_) @body) @definition.module
(interface_declaration (interface_ansi_header (interface_identifier (simple_identifier) @name))) @definition.interface
(package_declaration (package_identifier (simple_identifier) @name)) @definition.module
(class_declaration (class_identifier (simple_identifier) @name)) @definition.class
(function_declaration (function_body_declaration
  (function_identifier (function_identifier (simple_identifier) @name))
  . (_) @body)) @definition.function
(task_declaration (task_body_declaration
  (task_identifier (task_identifier (simple_identifier) @name))
  . (_) @body)) @definition.function
((text_macro_name (text_macro_identifier (simple_identifier) @name)) @definition.macro
  (#set! prefix "`define"))
(type_declaration (simple_identifier) @name) @definition.type

(local_parameter_declaration (list_of_param_assignments
  (param_assignment (parameter_identifier (simple_identifier) @name)))) @definition.constant
(parameter_port_declaration (parameter_declaration (list_of_param_assignments
  (param_assignment (parameter_identifier (simple_identifier) @name))))) @definition.constant

; Imports
(include_compiler_directive (double_quoted_string) @import)
(package_import_item (package_identifier (simple_identifier) @import))

; Instances, calls and macros
(module_instantiation (simple_identifier) @reference)
(tf_call (simple_identifier) @reference)
(text_macro_identifier (simple_identifier) @reference)
(class_type (class_identifier (simple_identifier) @reference))
(named_parameter_assignment (parameter_identifier (simple_identifier) @reference))
