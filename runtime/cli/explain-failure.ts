/** Why something did not work, and what to do, for the person at the terminal. */
import { ConnectionError, ResponseError, TimeoutError } from '../../generated/client/src/2026-05-19/index.ts'
import { withoutControls } from './terminal/colours.ts'
import type { ErrorMembers } from './terminal/error-json.ts'
import { EXIT_CODES } from './terminal/exit-codes.ts'
import { InterruptedError, MisuseError, SignInError, UnreachableError } from './terminal/failures.ts'
import { messageOf, reasonOf } from './terminal/reasons.ts'

/** The client takes whatever is thrown in its `fetch` for a lost connection. */
function withoutWrapping(error: unknown): unknown {
  return error instanceof ConnectionError && error.cause instanceof SignInError ? error.cause : error
}

/** @param baseUrl of the service that the calls went to. */
export function explainFailure(thrown: unknown, baseUrl: string): string {
  const error = withoutWrapping(thrown)
  if (error instanceof ResponseError) return withoutControls(explainRefusal(error, baseUrl))
  if (error instanceof ConnectionError) return `cannot reach ${baseUrl}: ${reasonOf(error)}`
  return messageOf(error)
}

/** By exit code: what kind of failure it is, for programs. */
const FAILURE_TYPES: Readonly<Record<number, string>> = {
  [EXIT_CODES.misused]: 'misused',
  [EXIT_CODES.notSignedIn]: 'not_signed_in',
  [EXIT_CODES.unreachable]: 'unreachable',
  [EXIT_CODES.interrupted]: 'interrupted',
}

/**
 * The same for a program: what the service said of a refusal, as it said it, or else what kind of failure it is.
 *
 * @param baseUrl of the service that the calls went to.
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
    return `${baseUrl} redirects elsewhere: give the service’s own address as --base-url`
  const details = error.details.map(({ field, issue }) => `\n  ${field}: ${issue}`).join('')
  const request = error.requestId === undefined ? '' : ` (${error.requestId})`
  const advice = adviceOn(error)
  return `the service answered ${error.status}: ${error.message}${request}${details}${advice ? `\n${advice}` : ''}`
}

/** The error object of the body, where there is one. */
function membersOf({ body }: ResponseError): Readonly<Record<string, unknown>> {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as { error?: object }
  return { ...error }
}

type Advice = (error: ResponseError, members: Readonly<Record<string, unknown>>) => string

const OTHER_CREDENTIAL: Advice = () => 'Sign in with svc login, or give another key.'

/** What to do, by the code of the error. */
const ADVICE: Readonly<Record<string, Advice>> = {
  missing_api_key: OTHER_CREDENTIAL,
  invalid_api_key: OTHER_CREDENTIAL,
  revoked_api_key: OTHER_CREDENTIAL,
  invalid_token: OTHER_CREDENTIAL,
  expired_token: OTHER_CREDENTIAL,
  environment_mismatch: () =>
    'The key or sign-in is of the other environment: give its address as --base-url, or another --profile.',
  insufficient_scope: (_, { required_scope }) =>
    `It takes the scope ${required_scope}: give a key that has it, or svc login --scope ${required_scope}.`,
  factor_required: (_, { challenge_url }) =>
    `It takes a second factor: open ${challenge_url}, and repeat the command with --factor and the code shown there.`,
  idempotency_key_reused: () =>
    'The key was used for another request: leave --idempotency-key out to have a new one.',
  version_gone: (_, { successor_version, guide_url }) =>
    `Use --version ${successor_version}; what changed: ${guide_url}`,
  unknown_version: () => 'svc status tells the version of your account.',
  tenant_limit: ({ retryAfterMs = 0 }) =>
    `Wait ${Math.ceil(retryAfterMs / 1000)} s; svc status tells what is left.`,
}

function adviceOn(error: ResponseError): string | undefined {
  const { code = '' } = error
  if (Object.hasOwn(ADVICE, code)) return ADVICE[code]?.(error, membersOf(error))
  const { doc_url } = membersOf(error)
  return typeof doc_url === 'string' ? `More: ${doc_url}` : undefined
}

const UNAUTHORIZED = 401

/** @returns the exit code for a command that failed so. */
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
