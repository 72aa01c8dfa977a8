/** Finds source locations by pointer among the nodes of an API. */

import type { SourceLocation } from '../diagnostics/place.ts'
import type { Api, ApiBody, ApiContent, ApiParameter, Schema } from './model.ts'
import { walk } from './walk.ts'

const known = new WeakMap<Api, ReadonlyMap<string, SourceLocation>>()

/** Returns the location of the node at a pointer, or of its nearest known ancestor. */
export function placeNear(api: Api, pointer: string): SourceLocation {
  const places = known.get(api) ?? collect(api)
  known.set(api, places)
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = places.get(at)
    if (place) return place
  }
  return api.place
}

function collect(api: Api): Map<string, SourceLocation> {
  const places = new Map<string, SourceLocation>()
  const add = ({ place }: { readonly place: SourceLocation }) => void places.set(place.pointer, place)
  const addSchema = (schema: Schema): void =>
    walk(schema, (each) => {
      add(each)
      if (each.kind === 'object') each.properties.forEach(add)
    })
  const addContents = (contents: readonly ApiContent[]): void => {
    contents.forEach(add)
    for (const { schema } of contents) addSchema(schema)
  }
  const addParameters = (all: readonly ApiParameter[]): void => {
    all.forEach(add)
    for (const { schema } of all) addSchema(schema)
  }
  const addBody = (body: ApiBody | undefined): void => {
    if (!body) return
    add(body)
    addContents(body.contents)
  }
  for (const schema of api.schemas.values()) addSchema(schema)
  for (const operation of api.operations) {
    add(operation)
    addParameters(operation.parameters)
    addBody(operation.body)
    for (const response of operation.responses) {
      add(response)
      addParameters(response.headers)
      addContents(response.contents)
    }
  }
  for (const event of [...api.events, ...api.operations.flatMap(({ callbacks }) => callbacks)]) {
    add(event)
    addParameters(event.headers)
    addBody(event.body)
  }
  return places
}
