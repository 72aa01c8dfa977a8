/** What every entry of the package has beside its own. `to` leads from its folder to that of the sources. */

/** @param classes names of the classes of errors: a type of the document may be called the same. */
export function printCommonExports(to: '.' | '..', classes: Iterable<string>): readonly string[] {
  return [
    `export { ${[...classes, 'errorClasses'].join(', ')} } from '${to}/errors.ts'`,
    `export type { Answer, Call, ListCall } from '${to}/runtime/call.ts'`,
    `export type { ClientOptions, ServiceConnection } from '${to}/runtime/connect.ts'`,
    `export type { Deprecation } from '${to}/runtime/deprecation.ts'`,
    `export { ClientError, ConnectionError, type ErrorDetail, ResponseError, TimeoutError, UnexpectedAnswerError } from '${to}/runtime/errors.ts'`,
    `export type { Attempt } from '${to}/runtime/transport.ts'`,
    `export type { Known } from '${to}/runtime/types.ts'`,
  ]
}

export function printWebhookExports(to: '.' | '..'): string {
  return `export { type UnlistedType, type WebhookBody, WebhookError, type WebhookErrorCode, type WebhookHeaders, type WebhookSecret } from '${to}/runtime/webhooks.ts'`
}
