; Emacs Lisp. See crates/rhumb-syntax/src/query.rs for the captures.

; Functions and macros
(function_definition name: (symbol) @name parameters: (_) . (_)? @body) @definition.function
(function_definition name: (symbol) @name docstring: (string) @doc @body) @definition.function
(macro_definition name: (symbol) @name parameters: (_) . (_)? @body) @definition.macro
(macro_definition name: (symbol) @name docstring: (string) @doc @body) @definition.macro
((list
  . (symbol) @_define
  . (symbol) @name
  . (_)
  . (string)? @doc
  . (_)? @body) @definition.function
  (#any-of? @_define "cl-defun" "cl-defgeneric" "cl-defmethod" "cl-defsubst" "define-inline" "defun*" "iter-defun"
    "transient-define-prefix" "transient-define-suffix" "transient-define-infix" "transient-define-argument"))
((list . (symbol) @_define . (symbol) @name . (_) . (string)? @doc . (_)? @body) @definition.macro
  (#any-of? @_define "cl-defmacro" "defmacro*" "pcase-defmacro"))
((list . (symbol) @_define . (symbol) @name . (string)? @doc @body) @definition.function
  (#any-of? @_define "define-minor-mode" "define-globalized-minor-mode" "define-generic-mode"))
((list . (symbol) @_define . (symbol) @name . (symbol) @reference . (_)? @body . (string)? @doc) @definition.function
  (#eq? @_define "define-derived-mode"))
((list . (symbol) @_define . (symbol) @name . (_) . (_)? @body) @definition.function
  (#eq? @_define "ert-deftest"))
((list . (symbol) @_define . (quote (symbol) @name) . (_)) @definition.function
  (#any-of? @_define "defalias" "define-obsolete-function-alias" "fset"))

; Variables and constants
(special_form "defvar" . (symbol) @name . (_)? . (string)? @doc) @definition.variable
(special_form "defconst" . (symbol) @name . (_)? . (string)? @doc) @definition.constant
((list . (symbol) @_define . (symbol) @name . (_) . (string)? @doc) @definition.variable
  (#any-of? @_define "defvar-local" "defcustom" "defvar-keymap" "define-obsolete-variable-alias"))
((list . (symbol) @_define . (symbol) @name . (_)? @body . (string)? @doc) @definition.variable
  (#any-of? @_define "defface" "defgroup"))

; Types
((list . (symbol) @_define . [(symbol) @name (list . (symbol) @name)] . (_)? @body) @definition.struct
  (#eq? @_define "cl-defstruct"))
((list
  . (symbol) @_define
  . [(symbol) (list . (symbol))]
  [(symbol) @name (list . (symbol) @name)] @definition.field)
  (#eq? @_define "cl-defstruct"))
((list . (symbol) @_define . (symbol) @name . (list (symbol)? @reference) . (_)? @body (string)? @doc) @definition.class
  (#eq? @_define "defclass"))
((list
  . (symbol) @_define
  . (symbol)
  . (list)
  . (list (list . (symbol) @name) @definition.field))
  (#eq? @_define "defclass"))

; Imports
((list . (symbol) @_require . (quote (symbol) @import))
  (#any-of? @_require "require" "cl-require"))
((list . (symbol) @_load . (string) @import)
  (#any-of? @_load "load" "load-file" "load-library"))

; Calls, and functions handed over
((list . (symbol) @reference)
  (#not-any-of? @reference
    "list" "car" "cdr" "not" "eq" "equal" "null" "cons" "+" "-" "=" "<" ">" "1+" "*" "/" "when" "unless" "declare" "t"
    "nil" "require" "provide" "defcustom" "defgroup" "defface" "setq-local" "concat" "format" "nth" "push" "pop"))
(function_quote (symbol) @reference)
