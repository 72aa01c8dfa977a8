/** Maps names in generated files to locations in documents. */

import type { SourceLocation } from '../diagnostics/place.ts'
import { validatedOf } from '../emit/validators/names.ts'
import type { Api, Schema } from '../ir/model.ts'
import { walk } from '../ir/walk.ts'

/** A component, an operation or an event, with the named declarations inside it. */
interface Owner {
  readonly place: SourceLocation
  readonly inside: ReadonlyMap<string, SourceLocation>
}

export type Owners = ReadonlyMap<string, Owner>

/** Returns everything in a version's document that generated files refer to by name. */
export function ownersOf(api: Api): Owners {
  const owners = new Map<string, Owner>()
  for (const [name, schema] of [...validatedOf(api).schemas, ...api.schemas])
    owners.set(name, { place: schema.place, inside: namesInside(schema) })
  for (const { id, path, place, parameters } of api.operations) {
    const inside = new Map(parameters.map((parameter) => [parameter.name, parameter.place]))
    owners.set(id, { place, inside })
    if (!owners.has(path)) owners.set(path, { place, inside })
  }
  for (const { name, place, headers } of api.events)
    owners.set(name, { place, inside: new Map(headers.map((header) => [header.name, header.place])) })
  return owners
}

function namesInside(schema: Schema): Map<string, SourceLocation> {
  const inside = new Map<string, SourceLocation>()
  walk(schema, (each) => {
    if (each.kind === 'object') for (const { name, place } of each.properties) inside.set(name, place)
    if (each.kind === 'enum') for (const value of each.values) inside.set(String(value), each.place)
  })
  return inside
}
