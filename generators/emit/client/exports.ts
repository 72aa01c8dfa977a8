/**
 * Exports that all entry points of the package have in common. `to` is the path from the entry's folder to the
 * sources.
 */

/** @param classes names of the error classes, because a type in the document may have the same name. */
export function printCommonExports(to: '.' | '..', classes: Iterable<string>): readonly string[] {
  return [
    `export { ${[...classes, 'errorClasses'].join(', ')} } from '${to}/errors.ts'`,
    `export type { Answer, Call, ListCall, StreamCall } from '${to}/runtime/call.ts'`,
    `export type { ClientOptions, Middleware, ServiceConnection } from '${to}/runtime/connect.ts'`,
    `export type { Deprecation } from '${to}/runtime/deprecation.ts'`,
    `export { ClientError, ConnectionError, type ErrorDetail, ResponseError, TimeoutError, UnexpectedAnswerError } from '${to}/runtime/errors.ts'`,
    `export type { Attempt } from '${to}/runtime/transport.ts'`,
    `export type { Known, RequestOptions } from '${to}/runtime/types.ts'`,
  ]
}

export function printWebhookExports(to: '.' | '..'): string {
  return `export { type UnlistedType, type WebhookBody, WebhookError, type WebhookErrorCode, type WebhookHeaders, type WebhookSecret } from '${to}/runtime/webhooks.ts'`
}
