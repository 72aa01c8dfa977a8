/** Emits the decoders of answers and events, for clients. */
import type { Report } from '../../diagnostics/diagnostic.ts'
import { streamOf } from '../../ir/bodies.ts'
import { isJson } from '../../ir/media-type.ts'
import type { Api, ApiOperation, Schema } from '../../ir/model.ts'
import { successOf } from '../../ir/operations.ts'
import { type Decoders, printDecoders } from './decoders.ts'

/** Returns the decoders of a version's success answers, by operation id, and of its events, by `eventKey`. */
export function printAnswerDecoders(api: Api, report: Report): Decoders {
  const answers = api.operations.flatMap((operation) => {
    const schema = answerOf(operation)
    return schema ? [[operation.id, schema] as const] : []
  })
  const events = api.events.flatMap(({ name, payload }) =>
    payload && isJson(payload.mediaType) ? [[eventKey(name), payload.schema] as const] : [],
  )
  return printDecoders(api, 'down', new Map([...answers, ...events]), '../runtime/values.ts', report)
}

/** Cannot be the id of an operation. */
export const eventKey = (event: string): string => `event ${event}`

/** Returns the schema of a success answer, or of an item of a stream. */
function answerOf(operation: ApiOperation): Schema | undefined {
  const stream = streamOf(operation)
  if (stream) return stream.items?.items
  return successOf(operation)?.contents.find(({ mediaType }) => isJson(mediaType))?.schema
}
