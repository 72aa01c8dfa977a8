/**
 * Constants and functions that the validators of one file share. A constant is named after the first schema that
 * uses it.
 */
import type { SourceLocation } from '../../diagnostics/place.ts'
import type { Api } from '../../ir/model.ts'
import { heading } from '../../print/literal.ts'
import { COMPILED_FILE, createCompiler } from './compiled.ts'
import { printFunctions, type SharedFunction } from './functions.ts'

export interface Constants {
  /**
   * Defines a constant and returns its name: that of an existing constant with the same value, or else the wanted
   * one.
   */
  define(wanted: string, value: string): string
  /** Returns the name of a shared function and adds it to the file. */
  call(name: SharedFunction): string
  /** Returns the name of a function that ajv compiles from the rules at a location. */
  compile(api: Api, place: SourceLocation): string
  /** Prints the imports, constants and functions that were requested. */
  print(): string
  /** Prints the file of compiled functions; undefined if there are none. */
  printCompiled(): string | undefined
}

export function createConstants(): Constants {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  const used = new Set<SharedFunction>()
  const compiler = createCompiler()
  return {
    define(wanted, value) {
      const known = names.get(value)
      if (known) return known
      let name = wanted
      for (let n = 2; taken.has(name); n++) name = `${wanted}_${n}`
      taken.add(name)
      names.set(value, name)
      return name
    },
    call(name) {
      used.add(name)
      if (name === 'unique') used.add('canonical')
      return name
    },
    compile: compiler.add,
    printCompiled: () => compiler.print(printFunctions),
    print() {
      const imports = used.has('format') ? "import formats from 'ajv-formats/dist/formats.js'\n" : ''
      const constants = [...names].map(([value, name]) => `const ${name} = ${value}\n`).sort()
      const compiled = compiler.names()
      const foreign =
        compiled.length > 0 ? `import { ${compiled.join(', ')} } from './${COMPILED_FILE}'\n` : ''
      const shared = printFunctions(used)
      return [
        imports,
        foreign,
        constants.length > 0 &&
          `\n${heading('Names of properties, values of enumerations, and patterns')}\n\n`,
        ...constants,
        shared !== '' && `\n${heading('Functions that validators share')}\n\n${shared}`,
        '\n',
      ]
        .filter((each) => each !== false)
        .join('')
    },
  }
}
