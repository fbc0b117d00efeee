; Ruby. See crates/rhumb-syntax/src/query.rs for the captures.

(class name: [(constant) @name (scope_resolution name: (constant) @name)]) @definition.class
(module name: [(constant) @name (scope_resolution name: (constant) @name)]) @definition.module
(method name: [(identifier) (constant) (operator) (setter)] @name) @definition.method
(singleton_method name: [(identifier) (constant) (operator) (setter)] @name) @definition.method
(alias name: (identifier) @name) @definition.method
((assignment left: (constant) @name) @definition.constant
  (#set! only "top-level"))
((assignment left: (scope_resolution name: (constant) @name)) @definition.constant
  (#set! only "top-level"))

; Methods that are made by a call
((call
  method: (identifier) @_attribute
  arguments: (argument_list (simple_symbol) @name)) @definition.field
  (#any-of? @_attribute "attr_accessor" "attr_reader" "attr_writer"))
((call
  method: (identifier) @_define
  arguments: (argument_list . (simple_symbol) @name)) @definition.method
  (#any-of? @_define "define_method" "define_singleton_method" "alias_method" "scope" "delegate"))
((call
  method: (identifier) @_define
  arguments: (argument_list . (simple_symbol) @name)
  block: [(block body: (_) @body) (do_block body: (_) @body)]) @definition.method
  (#any-of? @_define "define_method" "define_singleton_method"))

; Calls, with arguments or a receiver
(call method: [(identifier) (constant)] @reference)
; A lone name that is a whole statement is nearly always a call.
(body_statement (identifier) @reference)
(then (identifier) @reference)

; Methods handed over by name: `before_action :authenticate`
(argument_list (simple_symbol) @reference)

(constant) @reference

; Files that are required
((call
  method: (identifier) @_require
  arguments: (argument_list . (string (string_content) @import)))
  (#any-of? @_require "require" "require_relative" "load"))
((call
  method: (identifier) @_require
  arguments: (argument_list . (_) . (string (string_content) @import)))
  (#eq? @_require "autoload"))
