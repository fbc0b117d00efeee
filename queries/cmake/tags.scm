; CMake. See crates/rhumb-syntax/src/query.rs for the captures.

(function_def
  (function_command (argument_list . (argument (unquoted_argument) @name)))
  (body) @body) @definition.function
(macro_def
  (macro_command (argument_list . (argument (unquoted_argument) @name)))
  (body) @body) @definition.macro

((normal_command
  (identifier) @_command
  (argument_list . (argument (unquoted_argument) @name))) @definition.target
  (#match? @_command "^(?i:add_library|add_executable|add_custom_target)$"))
((normal_command
  (identifier) @_command
  (argument_list . (argument) @_label . (argument (unquoted_argument) @name))) @definition.target
  (#match? @_command "^(?i:add_test)$")
  (#eq? @_label "NAME"))
((normal_command
  (identifier) @_command
  (argument_list . (argument (unquoted_argument) @name))) @definition.module
  (#match? @_command "^(?i:project)$"))
((normal_command
  (identifier) @_command
  (argument_list . (argument (unquoted_argument) @name))) @definition.variable
  (#match? @_command "^(?i:set|option)$")
  (#not-match? @name "\\$")
  (#set! only "top-level"))

; Commands, among them the functions and macros of the project
(normal_command (identifier) @reference)

; Variables, by value and by name
(variable) @reference
(if_command (argument_list (argument (unquoted_argument) @reference))
  (#match? @reference "^[A-Z][A-Za-z0-9]*_"))

; Targets
((normal_command
  (identifier) @_command
  (argument_list (argument (unquoted_argument) @reference)))
  (#match? @_command "^(?i:target_link_libraries|add_dependencies|target_sources|target_compile_definitions|target_include_directories|set_target_properties|install)$")
  (#match? @reference "^[A-Za-z_][A-Za-z0-9_:+-]*$")
  (#not-match? @reference "^[A-Z_]+$"))

((normal_command
  (identifier) @_command
  (argument_list . (argument (unquoted_argument) @import)))
  (#match? @_command "^(?i:include|find_package|add_subdirectory)$"))
