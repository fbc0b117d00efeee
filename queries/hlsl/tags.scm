; HLSL, beyond what it has in common with C++

; A block of constants, which the grammar takes for a variable and a block of statements
((declaration type: (type_identifier) @_buffer declarator: (identifier) @name) @definition.struct
  (#any-of? @_buffer "cbuffer" "tbuffer"))
