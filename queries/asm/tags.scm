; Assembly. See crates/rhumb-syntax/src/query.rs for the captures.

; Labels that begin with a dot or are numbers are local to the code around them.
((label (ident) @name) @definition.function
  (#match? @name "^[A-Za-z_$?@]"))
((label (word) @name) @definition.function
  (#match? @name "^[A-Za-z_$?@]"))
(const name: (word) @name) @definition.constant

; What is jumped to, called or exported. Shorter names are registers.
((instruction (ident (reg (word) @reference)))
  (#match? @reference "[A-Za-z_]{4}"))
((meta (ident (reg (word) @reference)))
  (#match? @reference "[A-Za-z_]{4}"))
((meta kind: (meta_ident) @_include (string) @import)
  (#any-of? @_include ".include" ".incbin"))
