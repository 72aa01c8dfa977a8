/** Builds request bodies and responses of the IR. */
import type { ApiBody, ApiContent, Response } from './model.ts'
import { buildParameter } from './parameters.ts'
import { buildSchema, optional } from './schema.ts'
import {
  child,
  entries,
  extensionsOf,
  flag,
  isObject,
  once,
  placeOf,
  resolve,
  type Source,
  text,
} from './source.ts'

/** Reads a request body. */
export function buildBody(source: Source): ApiBody | undefined {
  const at = resolve(source)
  return at && once(at, 'body', () => readBody(at))
}

function readBody(at: Source): ApiBody {
  return {
    place: placeOf(at),
    required: flag(at, 'required'),
    deprecated: false,
    extensions: extensionsOf(at),
    contents: buildContents(child(at, 'content')),
    ...optional('description', text(at, 'description')),
  }
}

function buildContents(source: Source | undefined): ApiContent[] {
  return entries(source).flatMap(([mediaType, written]) => {
    const content = resolve(written)
    if (!content) return []
    const single = isObject(content.value) && 'example' in content.value ? [content.value.example] : []
    const named = entries(child(content, 'examples')).map(
      ([, each]) => child(resolve(each) ?? each, 'value')?.value,
    )
    return [
      {
        mediaType,
        schema: buildSchema(child(content, 'schema') ?? { ...content, value: true }),
        examples: [...single, ...named],
        place: placeOf(content),
        encoding: Object.fromEntries(
          entries(child(content, 'encoding')).map(([name, each]) => [name, each.value]),
        ),
      },
    ]
  })
}

/** Reads the response with a status: a code, a range such as `4XX`, or `default`. */
export function buildResponse(status: string, source: Source): Response[] {
  const at = resolve(source)
  return at ? [{ status, place: placeOf(source), ...once(at, 'response', () => readResponse(at)) }] : []
}

function readResponse(at: Source): Omit<Response, 'status' | 'place'> {
  const headers = entries(child(at, 'headers')).flatMap(([name, each]) => {
    const header = resolve(each)
    return header ? [once(header, `header ${name}`, () => buildParameter(header, name, 'header'))] : []
  })
  return {
    deprecated: false,
    extensions: extensionsOf(at),
    headers,
    contents: buildContents(child(at, 'content')),
    ...optional('description', text(at, 'description') ?? text(at, 'summary')),
  }
}
