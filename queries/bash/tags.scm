; Bash. See crates/rhumb-syntax/src/query.rs for the captures.

(function_definition name: (word) @name) @definition.function

(program (variable_assignment name: (variable_name) @name) @definition.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @definition.variable)
((program (declaration_command "readonly" (variable_assignment name: (variable_name) @name)) @definition.constant))

; Commands, among them the functions of the script
(command name: (command_name (word) @reference))

; Variables of the environment and of the script
((simple_expansion (variable_name) @reference)
  (#match? @reference "^[A-Z]"))
((expansion (variable_name) @reference)
  (#match? @reference "^[A-Z]"))

; Scripts that are read in
((command name: (command_name (word) @_source) . argument: (_) @import)
  (#any-of? @_source "source" "."))
