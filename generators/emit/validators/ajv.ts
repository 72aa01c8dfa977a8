/**
 * Configures ajv for generated validators: ES modules without `require`, and corrected implementations of three
 * keywords.
 */
import { _, type CodeKeywordDefinition, type KeywordCxt, Name } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats/dist/formats.js'
import { isMultiple } from '../../runtime/explain/scalars.ts'
import { type SharedFunction, STRING_FORMATS } from './functions.ts'

export function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    strictNumbers: true,
    inlineRefs: false,
    messages: false,
    validateSchema: false,
    ownProperties: true,
    logger: false,
    code: {
      source: true,
      esm: true,
      lines: true,
      regExp: Object.assign(pattern, { code: 'pattern' }),
      formats: _`formats.fullFormats`,
    },
  })
  // Evaluated properties are determined at run time.
  ajv.opts.unevaluated = false
  for (const name of STRING_FORMATS)
    ajv.addFormat(name, formats.fullFormats[name as keyof typeof formats.fullFormats])
  // ajv divides in binary floating point, and compares each item with every other.
  replace(ajv, 'multipleOf', 'number', ({ gen, data, schema }) => {
    const called = gen.scopeValue('func', { ref: isMultiple, code: nameOf('isMultiple') })
    return _`${called}(${data}, ${schema})`
  })
  replace(ajv, 'uniqueItems', 'array', ({ gen, data, schema }) => {
    if (schema !== true) return _`true`
    const called = gen.scopeValue('func', { ref: UNIQUE, code: nameOf('unique') })
    return _`${called}(${data})`
  })
  for (const [keyword, type] of [
    ['unevaluatedItems', 'array'],
    ['unevaluatedProperties', 'object'],
  ] as const)
    replace(ajv, keyword, type, ({ data, schema }) => _`${new Name(schema)}(${data})`)
  return ajv
}

const UNIQUE = {}

const nameOf = (name: SharedFunction) => _`${new Name(name)}`

/** @param print returns an expression that is true if the value fits. */
function replace(
  ajv: Ajv2020,
  keyword: string,
  type: 'number' | 'array' | 'object',
  print: (cxt: KeywordCxt) => ReturnType<typeof _>,
): void {
  const definition: CodeKeywordDefinition = { keyword, type, code: (cxt) => cxt.pass(print(cxt)) }
  ajv.removeKeyword(keyword).addKeyword(definition)
}

function pattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u')
  } catch {
    return new RegExp(text)
  }
}
