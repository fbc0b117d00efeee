; Dockerfiles. See crates/rhumb-syntax/src/query.rs for the captures.

; A stage is a target of the build.
(from_instruction as: (image_alias) @name) @definition.target
(arg_instruction (arg_pair name: (unquoted_string) @name)) @definition.variable
(env_instruction (env_pair name: (unquoted_string) @name) @definition.variable
  (#set! prefix "ENV"))

((image_name) @reference
  (#not-match? @reference "\\$"))
(variable) @reference

; The files of the repository that go into the image
((copy_instruction (path) @import . (path))
  (#not-match? @import "^(\\.?/?$|/|<<)"))
((add_instruction (path) @import . (path))
  (#not-match? @import "^(\\.?/?$|/|<<|https?:)"))
