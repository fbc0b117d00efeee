; Scheme. See crates/rhumb-syntax/src/query.rs for the captures.

; Libraries and modules
((list . (symbol) @_define . [(list) (symbol)] @name . (_)? @body) @definition.module
  (#any-of? @_define "define-library" "library" "define-module" "module"))
((list . (symbol) @_import [(list) (symbol)] @import)
  (#any-of? @_import "import" "use-modules")
  (#not-match? @import "^[(](only|prefix|rename|except) "))
((list . (symbol) @_import (list . (symbol) @_only . (list) @import))
  (#any-of? @_import "import" "use-modules")
  (#any-of? @_only "only" "prefix" "rename" "except"))
((list . (symbol) @_only . (list) (symbol) @reference)
  (#eq? @_only "only"))
((list . (symbol) @_include . (string) @import)
  (#any-of? @_include "include" "include-ci" "include-library-declarations" "load"))

; Functions, also curried ones, and names that hold them
((list . (symbol) @_define . (list . [(symbol) @name (list . (symbol) @name)]) . (_) @body) @definition.function
  (#any-of? @_define "define" "define*" "define-public" "define-inline" "define-memoized" "defun"))
((list . (symbol) @_define . (symbol) @name . (list . (symbol) @_lambda . (_) . (_) @body)) @definition.function
  (#any-of? @_define "define" "define-public")
  (#any-of? @_lambda "lambda" "case-lambda" "lambda*" "named-lambda"))
((list . (symbol) @_define . (symbol) @name) @definition.variable
  (#any-of? @_define "define" "define-public" "define-parameter")
  (#set! only "top-level"))
((list . (symbol) @_define . (list (symbol) @name)) @definition.variable
  (#eq? @_define "define-values")
  (#set! only "top-level"))

; Macros
((list . (symbol) @_define . [(symbol) @name (list . (symbol) @name)] . (_)? @body) @definition.macro
  (#any-of? @_define "define-syntax" "define-syntax-rule" "define-macro" "defmacro"))

; Records, with what makes, tells and reads them
((list . (symbol) @_define . [(symbol) @name (list . (symbol) @name)] . (_)? @body) @definition.struct
  (#any-of? @_define "define-record-type" "define-structure"))
((list
  . (symbol) @_define
  . (_)
  . [(symbol) @name (list . (symbol) @name)] @definition.function
  . (symbol))
  (#eq? @_define "define-record-type"))
((list . (symbol) @_define . (_) . (_) . (symbol) @name @definition.function)
  (#eq? @_define "define-record-type"))
((list
  . (symbol) @_define
  . (_)
  . (_)
  . (symbol)
  (list . (symbol) . (symbol) @name) @definition.field)
  (#eq? @_define "define-record-type"))
((list
  . (symbol) @_define
  . (_)
  . (_)
  . (symbol)
  (list . (symbol) . (symbol) . (symbol) @name) @definition.field)
  (#eq? @_define "define-record-type"))

; Calls, and functions handed over
((list . (symbol) @reference)
  (#not-any-of? @reference
    "define" "let" "let*" "letrec" "letrec*" "if" "cond" "else" "case" "and" "or" "not" "begin" "set!" "quote" "lambda"
    "when" "unless" "do" "list" "car" "cdr" "cons" "null?" "pair?" "eq?" "equal?" "+" "-" "*" "/" "=" "<" ">" "<=" ">="
    "define-syntax" "syntax-rules" "define-record-type" "import" "export" "only" "prefix" "_" "..." "cadr" "append"))
((list . (symbol) @_apply . (symbol) @reference)
  (#any-of? @_apply "map" "for-each" "apply" "filter" "fold" "fold-left" "fold-right" "reduce" "vector-map" "sort"))
