/** What schemas say that no validator follows: said where it stands. */
import { child, complain, leaveOut, lookUp, type ObjectValue, type Source, text } from './source.ts'

const DIALECTS = [
  'https://json-schema.org/draft/2020-12/schema',
  'https://spec.openapis.org/oas/3.1/dialect/base',
]

/** Keywords that other versions of JSON Schema and OpenAPI have: here they refuse nothing. */
const FOREIGN = ['$recursiveRef', 'additionalItems', 'dependencies']

/** Complains about other dialects of JSON Schema, and about their keywords. */
export function noteForeign(source: Source): void {
  const dialect = text(source, '$schema')
  if (dialect !== undefined && !DIALECTS.includes(dialect.replace(/#$/, ''))) {
    const message = `${dialect} is no dialect that validators follow: this is read as JSON Schema 2020-12`
    leaveOut(source, 'schema-dialect', message, 'write it in JSON Schema 2020-12')
  }
  for (const keyword of source.reader.openapi30 ? FOREIGN : [...FOREIGN, 'nullable']) {
    const found = child(source, keyword)
    if (!found || found.value === false) continue
    const message = `${keyword} is no keyword of JSON Schema 2020-12: nothing is validated by it`
    leaveOut(found, 'schema-keyword-unsupported', message, 'say it with the keywords of 2020-12')
  }
}

/** A reference that depends on how validation came to it is beyond every validator that is emitted. */
export function checkDynamic(source: Source): void {
  const ref = text(source, '$dynamicRef')
  if (ref === undefined) return
  const { references } = source.reader
  if (!lookUp(source, ref) || !references.isDynamic(source.value as ObjectValue, ref)) return
  const message = `${ref} may lead to several schemas`
  complain(
    source,
    'ref-dynamic',
    message,
    'give one schema the $dynamicAnchor, or refer to the target with $ref',
  )
}
