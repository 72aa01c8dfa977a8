import { type ItemError, renameFields } from './errors.ts'
import type { Routed } from './exchange.ts'

type BatchResult = { readonly status: 'succeeded' } | { readonly status: 'failed'; readonly error: ItemError }

interface Batch {
  readonly results: readonly BatchResult[]
}

/**
 * The answer of a batch with the errors of failed items as the caller's version words them. They are stored unworded,
 * because a repetition may come in another version. The same object where nothing failed.
 */
export function wordResults<Answer extends Batch>(exchange: Routed, answer: Answer): Answer {
  if (!answer.results.some(({ status }) => status === 'failed')) return answer
  const results = answer.results.map((result) =>
    result.status === 'failed' ? { ...result, error: wordError(exchange, result.error) } : result,
  )
  return { ...answer, results }
}

function wordError({ route, version }: Routed, { as_sent, ...error }: ItemError): ItemError {
  const rename = route.operation.downField
  const worded = rename && !as_sent ? renameFields(error, rename) : error
  const { param } = worded
  return {
    ...worded,
    ...(rename && param !== undefined && { param: rename(param) }),
    doc_url: version.docUrl(error.code),
  }
}
