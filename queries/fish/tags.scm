; Fish. See crates/rhumb-syntax/src/query.rs for the captures.

(function_definition name: (word) @name) @definition.function
(function_definition name: (word) @name . option: (_)* . [(command) (if_statement) (for_statement) (while_statement)
  (switch_statement) (begin_statement) (function_definition) (return) (pipe) (conditional_execution)] @body) @definition.function

; Variables that outlive the function or stand at the top of a file
((command name: (word) @_set argument: (word) @_scope . argument: (word) @name) @definition.variable
  (#eq? @_set "set")
  (#match? @_scope "^(-[a-zA-Z]*[gUx][a-zA-Z]*|--global|--universal|--export)$")
  (#not-match? @name "^-"))
((program (command name: (word) @_set . argument: (word) @name) @definition.variable)
  (#eq? @_set "set")
  (#not-match? @name "^-"))
((command name: (word) @_alias . argument: (word) @name) @definition.function
  (#any-of? @_alias "alias" "abbr")
  (#not-match? @name "^-"))

((command name: (word) @_alias . argument: (word) . argument: (word) @reference)
  (#eq? @_alias "alias"))
((command name: (word) @_abbr . argument: (word) @_add . argument: (word) @name) @definition.function
  (#eq? @_abbr "abbr")
  (#any-of? @_add "-a" "--add"))

; Imports
((command name: (word) @_source . argument: (_) @import)
  (#any-of? @_source "source" "."))

; Commands
((command name: (word) @reference)
  (#not-any-of? @reference
    "set" "echo" "test" "math" "string" "return" "source" "." "and" "or" "not" "read" "count" "contains" "status" "command"
    "builtin" "eval" "printf" "complete" "alias" "abbr" "cd" "type" "set_color" "argparse" "true" "false"))
((command name: (word) @_wrap . argument: (word) @reference)
  (#any-of? @_wrap "command" "builtin" "and" "or" "not" "eval"))
