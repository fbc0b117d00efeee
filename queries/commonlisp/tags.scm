; Common Lisp. See crates/rhumb-syntax/src/query.rs for the captures.

; Packages
((list_lit
  . value: (sym_lit) @_define
  . value: [
    (kwd_lit (kwd_symbol) @name)
    (sym_lit) @name
    (str_lit) @name
  ]
  . value: (_)? @body) @definition.module
  (#any-of? @_define "defpackage" "defsystem" "define-package" "uiop:define-package" "asdf:defsystem"))
((list_lit
  value: (list_lit
    . value: (kwd_lit (kwd_symbol) @_use)
    value: (kwd_lit (kwd_symbol) @import)))
  (#any-of? @_use "use" "import-from" "mix" "depends-on")
  (#not-any-of? @import "use" "import-from" "cl" "common-lisp"))
((list_lit . value: (sym_lit) @_require . value: [(kwd_lit (kwd_symbol) @import) (str_lit) @import])
  (#any-of? @_require "require" "load" "use-package"))

; Functions. A doc string is no part of the signature.
(defun
  (defun_header
    keyword: (defun_keyword ["defun" "defgeneric"])
    function_name: [(sym_lit) @name (list_lit . value: (sym_lit) . value: (sym_lit) @name)])
  . value: (_)? @body) @definition.function
(defun
  (defun_header keyword: (defun_keyword ["defun" "defgeneric"]) function_name: (sym_lit) @name)
  . value: (str_lit) @doc @body
  . value: (_)) @definition.function
(defun
  (defun_header
    keyword: (defun_keyword "defmethod")
    function_name: [(sym_lit) @name (list_lit . value: (sym_lit) . value: (sym_lit) @name)])
  . value: (_)? @body) @definition.method
(defun
  (defun_header keyword: (defun_keyword "defmacro") function_name: (sym_lit) @name)
  . value: (_)? @body) @definition.macro
(defun
  (defun_header keyword: (defun_keyword "defmacro") function_name: (sym_lit) @name)
  . value: (str_lit) @doc @body
  . value: (_)) @definition.macro

; Variables and constants
((list_lit
  . value: (sym_lit) @_define
  . value: (sym_lit) @name) @definition.variable
  (#any-of? @_define "defvar" "defparameter" "defglobal" "define-symbol-macro"))
((list_lit
  . value: (sym_lit) @_define
  . value: (sym_lit) @name
  value: (str_lit)? @doc .) @definition.constant
  (#any-of? @_define "defconstant" "define-constant"))

; Types
((list_lit
  . value: (sym_lit) @_define
  . value: [(sym_lit) @name (list_lit . value: (sym_lit) @name)]
  . value: (_)? @body) @definition.struct
  (#eq? @_define "defstruct"))
((list_lit
  . value: (sym_lit) @_define
  . value: [(sym_lit) (list_lit . value: (sym_lit))]
  value: [(sym_lit) @name (list_lit . value: (sym_lit) @name)] @definition.field)
  (#eq? @_define "defstruct"))
((list_lit
  . value: (sym_lit) @_define
  . value: (sym_lit) @name
  . value: (list_lit)
  . value: (_)? @body) @definition.class
  (#any-of? @_define "defclass" "define-condition"))
((list_lit
  . value: (sym_lit) @_define
  . value: (sym_lit)
  . value: (list_lit value: (sym_lit)? @reference)
  . value: (list_lit value: (list_lit . value: (sym_lit) @name) @definition.field))
  (#any-of? @_define "defclass" "define-condition"))
((list_lit
  . value: (sym_lit) @_define
  . value: (sym_lit)
  . value: (list_lit)
  . value: (list_lit value: (list_lit
    value: (kwd_lit (kwd_symbol) @_access)
    . value: (sym_lit) @name) @definition.method))
  (#any-of? @_define "defclass" "define-condition")
  (#any-of? @_access "accessor" "reader" "writer"))
((list_lit . value: (sym_lit) @_define . value: (sym_lit) @name) @definition.type
  (#eq? @_define "deftype"))
((list_lit . value: (sym_lit) @_define . value: (sym_lit) @name) @definition.macro
  (#any-of? @_define "define-compiler-macro" "define-setf-expander" "define-modify-macro" "defsetf"))

; Calls, what is in a package, and functions handed over
((list_lit . value: (sym_lit) @reference)
  (#not-any-of? @reference
    "let" "let*" "if" "when" "unless" "cond" "progn" "setf" "setq" "list" "car" "cdr" "first" "and" "or" "not" "eq" "+" "-"
    "=" "<" ">" "1+" "*" "/" "return" "loop" "dolist" "declare" "defpackage" "in-package" "defvar" "defparameter" "quote"
    "defclass" "defstruct" "deftype" "defconstant" "define-condition" "flet" "labels" "case" "null" "cons" "format"))
(package_lit symbol: (sym_lit) @reference)
(var_quoting_lit value: (sym_lit) @reference)
((list_lit . value: (sym_lit) @_make . value: (quoting_lit value: (sym_lit) @reference))
  (#any-of? @_make "make-instance" "make-condition" "error" "signal" "find-class" "change-class" "funcall" "apply"))
(defun_header lambda_list: (list_lit value: (list_lit . value: (sym_lit) . value: (sym_lit) @reference)))
((sym_lit) @reference
  (#match? @reference "^[*+][a-z-]+[*+]$"))
