/** Reports schema dialects and keywords that the validators do not support. */
import { child, complain, leaveOut, lookUp, type ObjectValue, type Source, text } from './source.ts'

const DIALECTS = [
  'https://json-schema.org/draft/2020-12/schema',
  'https://spec.openapis.org/oas/3.1/dialect/base',
  'https://spec.openapis.org/oas/3.2/dialect/2025-09-17',
]

/** Keywords of other JSON Schema and OpenAPI versions, which have no effect here. */
const FOREIGN = ['$recursiveRef', 'additionalItems', 'dependencies']

/** Reports unsupported JSON Schema dialects and their keywords. */
export function noteForeign(source: Source): void {
  const dialect = text(source, '$schema')
  if (dialect !== undefined && !DIALECTS.includes(dialect.replace(/#$/, ''))) {
    const message = `the dialect ${dialect} is not supported: the schema is read as JSON Schema 2020-12`
    leaveOut(source, 'schema-dialect', message, 'rewrite the schema in JSON Schema 2020-12')
  }
  for (const keyword of source.reader.openapi30 ? FOREIGN : [...FOREIGN, 'nullable']) {
    const found = child(source, keyword)
    if (!found || found.value === false) continue
    const message = `${keyword} is not a keyword of JSON Schema 2020-12 and has no effect`
    leaveOut(found, 'schema-keyword-unsupported', message, 'use keywords of JSON Schema 2020-12')
  }
}

/** Reports a $dynamicRef whose target depends on the validation path, which the emitted validators do not support. */
export function checkDynamic(source: Source): void {
  const ref = text(source, '$dynamicRef')
  if (ref === undefined) return
  const { references } = source.reader
  if (!lookUp(source, ref) || !references.isDynamic(source.value as ObjectValue, ref)) return
  const message = `${ref} may resolve to several schemas`
  complain(
    source,
    'ref-dynamic',
    message,
    'give one schema the $dynamicAnchor, or refer to the target with $ref',
  )
}
