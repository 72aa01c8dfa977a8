/**
 * Finds components that have another name in the next version, by where they occur. That is no change of the API, but the
 * client's types have these names.
 */
import type { Api, ApiContent, ApiOperation, Schema } from '../../ir/model.ts'

/**
 * Returns the new names by the old ones.
 *
 * @param operations old operations by new ones.
 */
export function renamedSchemas(
  old: Api,
  next: Api,
  operations: ReadonlyMap<ApiOperation, ApiOperation>,
): Readonly<Record<string, string>> {
  const renamed: Record<string, string> = {}
  const seen = new Set<string>()
  for (const [later, operation] of operations) {
    pairContents(operation.body?.contents, later.body?.contents)
    for (const { status, contents } of operation.responses)
      pairContents(contents, later.responses.find((each) => each.status === status)?.contents)
    for (const { in: where, name, schema } of operation.parameters)
      pair(schema, later.parameters.find((each) => each.in === where && each.name === name)?.schema)
  }
  for (const { name, payload } of old.events)
    pair(payload?.schema, next.events.find((each) => each.name === name)?.payload?.schema)
  return renamed

  function pairContents(one: readonly ApiContent[] = [], other: readonly ApiContent[] = []): void {
    for (const { mediaType, schema } of one)
      pair(schema, other.find((each) => each.mediaType === mediaType)?.schema)
  }

  function pair(one: Schema | undefined, other: Schema | undefined): void {
    if (!one || !other) return
    if (one.kind === 'ref' && other.kind === 'ref') pairComponents(one.name, other.name)
    else if (one.kind === 'array' && other.kind === 'array') pair(one.items, other.items)
    else if (one.kind === 'object' && other.kind === 'object')
      for (const { name, schema } of one.properties)
        pair(schema, other.properties.find((each) => each.name === name)?.schema)
    else if (isComposed(one) && isComposed(other) && one.kind === other.kind)
      for (const [index, member] of one.members.entries()) pair(member, other.members[index])
  }

  function pairComponents(one: string, other: string): void {
    if (seen.has(`${one} ${other}`)) return
    seen.add(`${one} ${other}`)
    if (!next.schemas.has(one) && !old.schemas.has(other)) renamed[one] ??= other
    pair(old.schemas.get(one), next.schemas.get(other))
  }
}

const isComposed = (schema: Schema) => schema.kind === 'union' || schema.kind === 'intersection'
