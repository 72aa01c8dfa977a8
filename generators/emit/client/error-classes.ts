/** Emits the classes of errors that the client throws. */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api } from '../../ir/model.ts'
import { identifier, pascalCase } from '../../ir/naming.ts'
import { createFile } from '../../print/file.ts'
import { literal, propertyKey } from '../../print/literal.ts'
import { errorTypes } from '../wire/error-catalogue.ts'

/** Emits a class for each error type of any version, and the table of all classes. */
export function printErrorClasses(apis: readonly Api[], wire: Wire): string {
  const classes = errorClassNames(apis, wire)
  const file = createFile(classes.values())
  const table = file.use('ErrorClasses', './runtime/errors.ts', { type: true })
  for (const [type, name] of classes) {
    const base = file.use('ResponseError', './runtime/errors.ts')
    file.print(
      `export class ${name} extends ${base} {`,
      `  override readonly name = ${literal(name)}`,
      `  declare readonly type: ${literal(type)}`,
      '}',
      '',
    )
  }
  file.print(
    '/** Error classes by error `type`. */',
    'export const errorClasses = {',
    ...[...classes].map(([type, name]) => `  ${propertyKey(type)}: ${name},`),
    `} satisfies ${table}`,
  )
  return file.text()
}

/**
 * Returns class names: `not_found` → `NotFoundError`, `api_error` → `ApiError`. A name that is taken gets a number.
 */
export function errorClassNames(apis: readonly Api[], wire: Wire): ReadonlyMap<string, string> {
  const types = [...new Set(apis.flatMap((api) => errorTypes(api, wire)))]
  const taken = new Set([
    'ClientError',
    'ConnectionError',
    'TimeoutError',
    'ResponseError',
    'UnexpectedAnswerError',
    'WebhookError',
  ])
  return new Map(
    types.map((type) => {
      const words = pascalCase(type)
      const name = identifier(words.endsWith('Error') ? words : `${words}Error`)
      let free = name
      for (let n = 2; taken.has(free); n++) free = `${name}${n}`
      taken.add(free)
      return [type, free]
    }),
  )
}
