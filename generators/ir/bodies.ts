/** Helpers for request and response bodies: JSON, batches, streams. */
import { essenceOf, isJson } from './media-type.ts'
import type { Api, ApiOperation, Schema } from './model.ts'

/** Returns the JSON content of an operation's request body, if it has one. */
export function jsonBody(operation: ApiOperation) {
  return operation.body?.contents.find(({ mediaType }) => isJson(mediaType))
}

/** Returns whether a successful response is a stream of server-sent events. */
export function isStream(operation: ApiOperation): boolean {
  return operation.responses.some(
    ({ status, contents }) =>
      /^2(?:\d\d|XX)$/i.test(status) &&
      contents.some(({ mediaType }) => essenceOf(mediaType) === 'text/event-stream'),
  )
}

/**
 * Returns whether the items of a batch are validated one by one by the handler. The body validator then accepts any
 * item.
 */
export function isValidatedEach(schema: Schema): boolean {
  return schema.extensions['x-judged'] === 'each'
}

/** Returns the property and item schema of a batch body whose items are validated one by one. */
export function validatedArray(api: Api, body: Schema): { property: string; items: Schema } | undefined {
  const object = body.kind === 'ref' ? api.schemas.get(body.name) : body
  if (object?.kind !== 'object') return undefined
  for (const { name, schema } of object.properties) {
    if (schema.kind === 'array' && isValidatedEach(schema)) return { property: name, items: schema.items }
  }
  return undefined
}
