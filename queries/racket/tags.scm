; Racket. See crates/rhumb-syntax/src/query.rs for the captures.

; Functions, also curried ones, and names that hold them
((list . (symbol) @_define . (list . [(symbol) @name (list . (symbol) @name)]) . (_) @body) @definition.function
  (#any-of? @_define "define" "define/contract" "define/memo" "define/memo*" "define-for-syntax"))
((list . (symbol) @_define . (symbol) @name . (list . (symbol) @_lambda . (_) . (_) @body)) @definition.function
  (#any-of? @_define "define" "define/contract")
  (#any-of? @_lambda "lambda" "λ" "case-lambda"))
((list . (symbol) @_define . (symbol) @name) @definition.variable
  (#any-of? @_define "define" "define/contract" "define-for-syntax" "define-runtime-path")
  (#set! only "top-level"))
((list . (symbol) @_define . (list (symbol) @name)) @definition.variable
  (#eq? @_define "define-values")
  (#set! only "top-level"))

; Macros
((list . (symbol) @_define . [(symbol) @name (list . (symbol) @name)] . (_)? @body) @definition.macro
  (#any-of? @_define
    "define-syntax" "define-syntax-rule" "define-simple-macro" "define-syntax-parse-rule" "define-syntax-parser"
    "define-match-expander"))

; Structures, classes, interfaces, units, modules
((list . (symbol) @_define . (symbol) @name) @definition.struct
  (#any-of? @_define "struct" "define-struct" "struct/contract" "define-struct/contract"))
((list . (symbol) @_define . (symbol) . (symbol) @reference . (list))
  (#any-of? @_define "struct" "define-struct"))
((list
  . (symbol) @_define
  . (symbol)
  . (symbol)?
  . (list [(symbol) @name (list . (symbol) @name)] @definition.field))
  (#any-of? @_define "struct" "define-struct"))
((list . (symbol) @_define . (symbol) @name . (list . (symbol) @_class . (_) . (_)? @body)) @definition.class
  (#eq? @_define "define")
  (#any-of? @_class "class" "class*" "mixin" "unit"))
((list . (symbol) @_class . (symbol) @reference)
  (#any-of? @_class "class" "class*" "new" "make-object" "is-a?"))
((list . (symbol) @_define . (symbol) @name . (list . (symbol) @_interface)) @definition.interface
  (#eq? @_define "define")
  (#any-of? @_interface "interface" "interface*"))
((list . (symbol) @_define . (list . (symbol) @name) . (_)? @body) @definition.method
  (#any-of? @_define
    "define/public" "define/private" "define/override" "define/augment" "define/pubment" "define/public-final"
    "define/override-final" "define/overment" "define/augride"))
((list . (symbol) @_field [(symbol) @name (list . (symbol) @name)] @definition.field)
  (#any-of? @_field "init-field" "field"))
((list . (symbol) @_module . (symbol) @name . (_)? @body) @definition.module
  (#any-of? @_module "module" "module+" "module*"))

; Imports
((list . (symbol) @_require [(symbol) (string)] @import)
  (#eq? @_require "require"))
((list . (symbol) @_only . [(symbol) (string)] @import (symbol)? @reference)
  (#any-of? @_only "only-in" "except-in" "rename-in" "for-syntax" "for-template" "combine-in"))
((list . (symbol) @_prefix . (symbol) . [(symbol) (string)] @import)
  (#any-of? @_prefix "prefix-in"))

; Calls, messages, and functions handed over
((list . (symbol) @reference)
  (#not-any-of? @reference
    "define" "let" "let*" "letrec" "if" "cond" "else" "case" "and" "or" "not" "begin" "set!" "quote" "lambda" "λ" "when"
    "unless" "list" "car" "cdr" "cons" "null?" "pair?" "eq?" "equal?" "+" "-" "*" "/" "=" "<" ">" "<=" ">=" "require"
    "provide" "struct" "define-syntax" "define-values" "first" "rest" "void" "values" "send" "new" "super-new" "class"
    "_" "..." "only-in" "prefix-in" "for-syntax" "define/public" "define/private" "define/override" "field" "init-field"))
((list . (symbol) @_send . (_) . (symbol) @reference)
  (#any-of? @_send "send" "send*" "send/apply" "get-field" "dynamic-send"))
((list . (symbol) @_apply . (symbol) @reference)
  (#any-of? @_apply "map" "for-each" "apply" "filter" "foldl" "foldr" "andmap" "ormap" "filter-map" "sort" "append-map"))
