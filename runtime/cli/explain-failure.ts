/** Explains to the person at the terminal why a command failed and what to do. */
import { ConnectionError, ResponseError, TimeoutError } from '../../generated/client/src/2026-05-19/index.ts'
import { withoutControls } from './terminal/colours.ts'
import type { ErrorMembers } from './terminal/error-json.ts'
import { EXIT_CODES } from './terminal/exit-codes.ts'
import { InterruptedError, MisuseError, SignInError, UnreachableError } from './terminal/failures.ts'
import { messageOf, reasonOf } from './terminal/reasons.ts'

/** Unwraps a sign-in error: the client reports any error thrown in its `fetch` as a `ConnectionError`. */
function withoutWrapping(error: unknown): unknown {
  return error instanceof ConnectionError && error.cause instanceof SignInError ? error.cause : error
}

/**
 * Returns the explanation of an error.
 * @param baseUrl address of the API that was called.
 */
export function explainFailure(thrown: unknown, baseUrl: string): string {
  const error = withoutWrapping(thrown)
  if (error instanceof ResponseError) return withoutControls(explainRefusal(error, baseUrl))
  if (error instanceof ConnectionError) return `cannot reach ${baseUrl}: ${reasonOf(error)}`
  return messageOf(error)
}

/** Failure type by exit code, for programs. */
const FAILURE_TYPES: Readonly<Record<number, string>> = {
  [EXIT_CODES.misused]: 'misused',
  [EXIT_CODES.notSignedIn]: 'not_signed_in',
  [EXIT_CODES.unreachable]: 'unreachable',
  [EXIT_CODES.interrupted]: 'interrupted',
}

/**
 * Returns the error for programs: the error members that the API returned, or the failure type.
 * @param baseUrl address of the API that was called.
 */
export function describeFailure(thrown: unknown, baseUrl: string): ErrorMembers {
  const error = withoutWrapping(thrown)
  const message = explainFailure(error, baseUrl)
  const type = FAILURE_TYPES[exitCodeOf(error)] ?? 'failed'
  if (!(error instanceof ResponseError)) return { type, message }
  const request = error.requestId === undefined ? {} : { request_id: error.requestId }
  return { type, message, status: error.status, ...request, ...membersOf(error) }
}

function explainRefusal(error: ResponseError, baseUrl: string): string {
  if (error.status < 400)
    return `${baseUrl} redirects to a different address: set --base-url to the address of the API`
  const details = error.details.map(({ field, issue }) => `\n  ${field}: ${issue}`).join('')
  const request = error.requestId === undefined ? '' : ` (${error.requestId})`
  const advice = adviceOn(error)
  return `the API returned ${error.status}: ${error.description}${request}${details}${advice ? `\n${advice}` : ''}`
}

/** Returns the error object of the response body, or an empty object. */
function membersOf({ body }: ResponseError): Readonly<Record<string, unknown>> {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as { error?: object }
  return { ...error }
}

type Advice = (error: ResponseError, members: Readonly<Record<string, unknown>>) => string

const OTHER_CREDENTIAL: Advice = () => 'Sign in with svc login, or use a different API key.'

/** Advice for the user, by error code. */
const ADVICE: Readonly<Record<string, Advice>> = {
  missing_api_key: OTHER_CREDENTIAL,
  invalid_api_key: OTHER_CREDENTIAL,
  revoked_api_key: OTHER_CREDENTIAL,
  invalid_token: OTHER_CREDENTIAL,
  expired_token: OTHER_CREDENTIAL,
  environment_mismatch: () =>
    'The key or sign-in belongs to the other environment. Set --base-url to that environment, or use a different --profile.',
  insufficient_scope: (_, { required_scope }) =>
    `The operation requires the scope ${required_scope}. Use a key with this scope, or run svc login --scope ${required_scope}.`,
  factor_required: (_, { challenge_url }) =>
    `The operation requires a second factor. Open ${challenge_url}, then repeat the command with --factor and the code shown there.`,
  idempotency_key_reused: () =>
    'The idempotency key was already used for a different request. Omit --idempotency-key to use a new key.',
  version_gone: (_, { successor_version, guide_url }) =>
    `Use --version ${successor_version}. Upgrade guide: ${guide_url}`,
  unknown_version: () => 'Run svc status to see the API version of your account.',
  tenant_limit: ({ retryAfterMs = 0 }) =>
    `Wait ${Math.ceil(retryAfterMs / 1000)} s. Run svc status to see the remaining rate limit.`,
}

function adviceOn(error: ResponseError): string | undefined {
  const { code = '' } = error
  if (Object.hasOwn(ADVICE, code)) return ADVICE[code]?.(error, membersOf(error))
  const { doc_url } = membersOf(error)
  if (typeof doc_url !== 'string' || !URL.canParse(doc_url)) return undefined
  const page = new URL(doc_url)
  // The page shows the request to members who are signed in.
  if (error.requestId !== undefined) page.searchParams.set('request', error.requestId)
  return `Documentation: ${page}`
}

const UNAUTHORIZED = 401

/** Returns the exit code for an error. */
export function exitCodeOf(thrown: unknown): number {
  const error = withoutWrapping(thrown)
  if (error instanceof InterruptedError) return EXIT_CODES.interrupted
  if (error instanceof MisuseError) return EXIT_CODES.misused
  const isAboutWho = error instanceof ResponseError && error.status === UNAUTHORIZED
  if (isAboutWho || error instanceof SignInError) return EXIT_CODES.notSignedIn
  const isSilence =
    error instanceof ConnectionError || error instanceof TimeoutError || error instanceof UnreachableError
  return isSilence ? EXIT_CODES.unreachable : EXIT_CODES.failed
}
