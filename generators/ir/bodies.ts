/** Helpers for request and response bodies: JSON, batches, streams. */
import { type Framing, framingOf, isForm, isJson } from './media-type.ts'
import { partsOf } from './members.ts'
import type { Api, ApiContent, ApiOperation, ArraySchema, Response, Schema } from './model.ts'
import { successOf } from './operations.ts'

/** Returns the JSON content of an operation's request body, if it has one. */
export function jsonBody(operation: ApiOperation) {
  return operation.body?.contents.find(({ mediaType }) => isJson(mediaType))
}

/** Returns the form contents of an operation's request body. */
export function formBodies({ body }: ApiOperation): ApiContent[] {
  return body?.contents.filter(({ mediaType }) => isForm(mediaType)) ?? []
}

/** Returns whether a body is text or bytes: it is neither JSON, a form nor a stream, and its schema is not structured. */
export function isRaw(schemas: Api['schemas'], { mediaType, schema }: ApiContent): boolean {
  if (isJson(mediaType) || isForm(mediaType) || framingOf(mediaType)) return false
  const parts = partsOf({ schemas }, schema)
  return parts.length > 0 && parts.every(({ kind }) => kind === 'string' || kind === 'any')
}

/** Returns the contents of an operation's request body that are text or bytes. */
export const rawBodies = ({ schemas }: Api, { body }: ApiOperation): ApiContent[] =>
  body?.contents.filter((content) => isRaw(schemas, content)) ?? []

/** Returns the content of a success response that is neither JSON nor a stream. */
export function rawAnswer(operation: ApiOperation): ApiContent | undefined {
  const success = successOf(operation)
  const isPlain = success && !streamIn(success) && !translatedContent(success)
  return isPlain ? success.contents[0] : undefined
}

/** A stream as the body of a success response. */
export interface StreamContent {
  readonly content: ApiContent
  readonly framing: Framing
  /** A list of the items; absent if the document does not describe them, so that the stream is text. */
  readonly items?: ArraySchema
}

/** Returns the stream of a success response, unless the response can also be JSON. */
export function streamOf(operation: ApiOperation): StreamContent | undefined {
  const success = successOf(operation)
  return success && streamIn(success)
}

/** Returns the stream of a response. Only server-sent events can be without described items. */
export function streamIn({ contents }: Response): StreamContent | undefined {
  if (contents.some(({ mediaType }) => isJson(mediaType))) return undefined
  const streams = contents.flatMap((content): StreamContent[] => {
    const { mediaType, schema } = content
    const framing = framingOf(mediaType)
    if (framing && schema.kind === 'array') return [{ content, framing, items: schema }]
    return framing === 'events' ? [{ content, framing }] : []
  })
  return streams.find(({ items }) => items) ?? streams[0]
}

/** Returns the content of a response that is translated: JSON, or a stream with described items. */
export function translatedContent(response: Response): ApiContent | undefined {
  const stream = streamIn(response)
  return stream
    ? stream.items && stream.content
    : response.contents.find(({ mediaType }) => isJson(mediaType))
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
