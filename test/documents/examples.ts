/** Bodies that a document shows: whole examples of requests, and examples of their parts put where they belong. */

type Json = Readonly<Record<string, unknown>>

export interface ShownBody {
  /** Where the example stands in the body: `brand.icon`; empty for a whole one. */
  readonly part: string
  readonly body: unknown
}

export interface ShownRequest {
  readonly id: string
  readonly method: string
  /** With the documents' examples in place of parameters. */
  readonly path: string
  readonly environment: 'sandbox' | 'live' | undefined
  readonly bodies: readonly ShownBody[]
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @param document as generated: whole. @returns every operation that takes a body. */
export function shownRequests(document: Json): ShownRequest[] {
  const resolve = (value: unknown): Json => {
    if (!isObject(value)) return {}
    if (typeof value.$ref !== 'string') return value
    const target = value.$ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, name) => (at as Json)[name], document)
    const { $ref, ...beside } = value
    return { ...resolve(target), ...beside }
  }
  const own = (schema: Json): unknown[] =>
    [...((schema.examples as unknown[]) ?? []), ...('example' in schema ? [schema.example] : [])].filter(
      (each) => each !== undefined,
    )
  /** Examples of the parts of a value that is otherwise as given. */
  const parts = (given: Json, value: unknown, path: string, above: readonly unknown[]): ShownBody[] => {
    const schema = resolve(given)
    if (above.includes(schema.properties ?? schema.items ?? schema)) return []
    const inside = [...above, schema.properties ?? schema.items ?? schema]
    const ofForms = ((schema.oneOf as Json[]) ?? []).flatMap((form) => {
      const [example = value, ...others] = own(resolve(form))
      return [
        ...[example, ...others].map((body) => ({ part: path, body })),
        ...parts(form, example, path, inside),
      ]
    })
    const ofMembers = ((schema.allOf as Json[]) ?? []).flatMap((each) => parts(each, value, path, inside))
    const ofProperties = Object.entries((schema.properties as Json) ?? {}).flatMap(([name, each]) => {
      const at = path === '' ? name : `${path}.${name}`
      const base = isObject(value) ? value : {}
      const put = ({ part, body }: ShownBody): ShownBody => ({ part, body: { ...base, [name]: body } })
      const property = resolve(each)
      const whole = own(property)
      const found = whole.map((body) => ({ part: at, body }))
      const deeper = parts(property, base[name] ?? whole[0], at, inside)
      return [...found, ...deeper].map(put)
    })
    const [, ...others] = Array.isArray(value) ? value : []
    const ofItems = isObject(schema.items)
      ? [
          ...own(resolve(schema.items)).map((body) => ({ part: `${path}[]`, body })),
          ...parts(
            schema.items,
            (value as unknown[] | undefined)?.[0] ?? own(resolve(schema.items))[0],
            `${path}[]`,
            inside,
          ),
        ].map(({ part, body }) => ({ part, body: [body, ...others] }))
      : []
    return [...ofProperties, ...ofItems, ...ofForms, ...ofMembers]
  }
  return Object.entries(document.paths as Readonly<Record<string, Json>>).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      if (!isObject(operation) || !operation.requestBody) return []
      const content = Object.values(resolve(operation.requestBody).content as Json)[0] as Json
      const schema = resolve(content.schema)
      const whole = [...own(content), ...own(schema)]
      const first = whole[0] ?? {}
      const parameters = ((operation.parameters as Json[]) ?? []).map(resolve)
      return [
        {
          id: String(operation.operationId),
          method: method.toUpperCase(),
          path: path.replace(/\{(\w+)\}/g, (_, name) =>
            String(parameters.find((each) => each.name === name)?.example),
          ),
          environment: operation['x-environment'] as ShownRequest['environment'],
          bodies: [
            ...whole.map((body) => ({ part: '', body })),
            ...parts(schema, first, '', []).filter(
              ({ body }) => !whole.some((each) => JSON.stringify(each) === JSON.stringify(body)),
            ),
          ],
        },
      ]
    }),
  )
}
