; Make. See crates/rhumb-syntax/src/query.rs for the captures.

((rule (targets (word) @name) (recipe)? @body) @definition.target
  (#not-match? @name "^\\.[A-Z]"))
(variable_assignment name: (word) @name) @definition.variable
(define_directive name: (word) @name value: (raw_text)? @body) @definition.function

; A `+=` adds to what is defined elsewhere.
(variable_assignment name: (word) @name @reference "+=") @ignore

; What a rule needs, and the variables wherever they are used
(prerequisites (word) @reference)
(variable_reference (word) @reference)
(substitution_reference text: (word) @reference)

(include_directive filenames: (list (word) @import))
