/** What travels in requests and answers: JSON, batches, streams. */
import { essenceOf, isJson } from './media-type.ts'
import type { Api, ApiOperation, Schema } from './model.ts'

/** The JSON content of an operation's request body, if it has one. */
export function jsonBody(operation: ApiOperation) {
  return operation.body?.contents.find(({ mediaType }) => isJson(mediaType))
}

/** Whether success is answered with server-sent events rather than with a whole body. */
export function isStream(operation: ApiOperation): boolean {
  return operation.responses.some(
    ({ status, contents }) =>
      /^2(?:\d\d|XX)$/i.test(status) &&
      contents.some(({ mediaType }) => essenceOf(mediaType) === 'text/event-stream'),
  )
}

/** The items of a batch are checked one by one by whoever handles it: here they may be anything. */
export function isValidatedEach(schema: Schema): boolean {
  return schema.extensions['x-judged'] === 'each'
}

/** The array of a batch body whose items are checked one by one, if it is one. */
export function validatedArray(api: Api, body: Schema): { property: string; items: Schema } | undefined {
  const object = body.kind === 'ref' ? api.schemas.get(body.name) : body
  if (object?.kind !== 'object') return undefined
  for (const { name, schema } of object.properties) {
    if (schema.kind === 'array' && isValidatedEach(schema)) return { property: name, items: schema.items }
  }
  return undefined
}
