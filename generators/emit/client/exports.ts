/** What every entry of the package has beside its own. `to` leads from its folder to that of the sources. */

export function printCommonExports(to: '.' | '..'): readonly string[] {
  return [
    `export * from '${to}/errors.ts'`,
    `export type { Answer, Call, ListCall } from '${to}/runtime/call.ts'`,
    `export type { ClientOptions } from '${to}/runtime/connect.ts'`,
    `export type { Deprecation } from '${to}/runtime/deprecation.ts'`,
    `export { ClientError, ConnectionError, type ErrorDetail, ResponseError, TimeoutError, UnexpectedAnswerError } from '${to}/runtime/errors.ts'`,
    `export type { Attempt } from '${to}/runtime/transport.ts'`,
    `export type { Known } from '${to}/runtime/types.ts'`,
  ]
}

export function printWebhookExports(to: '.' | '..'): string {
  return `export { type UnlistedType, type WebhookBody, WebhookError, type WebhookErrorCode, type WebhookHeaders, type WebhookSecret } from '${to}/runtime/webhooks.ts'`
}
