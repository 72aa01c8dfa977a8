import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { readDocument } from '../../runtime/api/explanation.ts'
import { splitTarget } from '../../runtime/api/pipeline.ts'
import { checkAnswer } from './contract.ts'
import {
  type CheckRequest,
  cutDocument,
  normalizeTarget,
  openContractValidator,
  type SentRequest,
  type Violation,
} from './contract-validator.ts'

/** A request on which the service and express-openapi-validator disagree, or a response that does not match the document. */
export interface Disagreement {
  readonly what: 'accepted against the document' | 'refused against the document' | 'answer'
  readonly version: string
  readonly method: string
  readonly target: string
  /** Status of the response, and its error code if it is an error. */
  readonly status: number
  readonly code: string | undefined
  /** What does not match; empty if the validator accepts a request that was refused. */
  readonly violation: string
}

/** Validates all traffic under /v1 a second time. Does not change responses. */
export interface ContractGuard {
  /** Wraps a listener: validates each request and response after the response was sent. */
  watch(listener: RequestListener): RequestListener
  /** Resolves when everything answered so far has been validated. */
  settled(): Promise<void>
}

/**
 * Creates a guard that reports disagreements. It opens validators on demand, one for each version and first path
 * segment.
 *
 * @param failed receives errors of the validation itself.
 */
export function createContractGuard(
  report: (disagreement: Disagreement) => void,
  failed: (error: unknown) => void,
): ContractGuard {
  const pending = new Set<Promise<void>>()
  const validators = createValidators()
  return {
    watch: (listener) => (request, response) => {
      const { path } = splitTarget(request.url ?? '/')
      if (path.startsWith('/v1/') && request.method !== 'OPTIONS') {
        const observed = observe(request, response)
        response.once('finish', () => {
          if (response.statusCode === REQUEST_TIMEOUT) return
          const validated = validate(validators, observed())
            .then((disagreements) => disagreements.forEach(report))
            .catch(failed)
            .finally(() => pending.delete(validated))
          pending.add(validated)
        })
      }
      listener(request, response)
    },
    settled: async () => {
      await Promise.all(pending)
    },
  }
}

/** The document describes neither a request that did not arrive completely nor its response. */
const REQUEST_TIMEOUT = 408

type ValidatorSource = (version: string, path: string) => Promise<CheckRequest>

function createValidators(): ValidatorSource {
  const documents = new Map<string, ReturnType<typeof readDocument>>()
  const validators = new Map<string, Promise<CheckRequest>>()
  return (version, path) => {
    const family = `${version} ${path.split('/', 3)[2]}`
    const known = validators.get(family)
    if (known) return known
    const document = documents.get(version) ?? readDocument(version)
    documents.set(version, document)
    const validator = openContractValidator(cutDocument(document.parsed(), path))
    validators.set(family, validator)
    return validator
  }
}

/** One request and its response, as sent over the wire. */
interface Observed {
  readonly request: SentRequest
  readonly status: number
  readonly version: string
  readonly answer: unknown
  /** Whether the response is a stream, which cannot be validated as a value. */
  readonly streamed: boolean
}

/** Observes both streams without consuming them. The returned function gives the data seen so far. */
function observe(request: IncomingMessage, response: ServerResponse): () => Observed {
  const sent: Buffer[] = []
  const emit = request.emit
  request.emit = (event: string | symbol, ...values: unknown[]) => {
    if (event === 'data') sent.push(values[0] as Buffer)
    return emit.call(request, event, ...values)
  }
  let answer = ''
  let version = ''
  let streamed = false
  const { writeHead, end } = response
  response.writeHead = (...values: unknown[]) => {
    version = findHeader(values.at(-1), 'Service-Version') ?? ''
    streamed = findHeader(values.at(-1), 'Content-Type') === 'text/event-stream'
    return Reflect.apply(writeHead, response, values) as ServerResponse
  }
  response.end = (...values: unknown[]) => {
    if (typeof values[0] === 'string') answer = values[0]
    return Reflect.apply(end, response, values) as ServerResponse
  }
  return () => ({
    request: {
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      headers: request.headers,
      body: readJson(Buffer.concat(sent).toString()),
    },
    status: response.statusCode,
    version,
    answer: readJson(answer),
    streamed,
  })
}

function findHeader(headers: unknown, name: string): string | undefined {
  return Array.isArray(headers) ? headers[headers.indexOf(name) + 1] : undefined
}

/** Returns undefined for invalid JSON: the service has rejected it, or the validator reports it as missing. */
function readJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

async function validate(
  validators: ValidatorSource,
  { request, status, version, answer, streamed }: Observed,
): Promise<Disagreement[]> {
  const path = normalizeTarget(splitTarget(request.target).path)
  if (version === '') return []
  const code = codeOf(answer)
  const checkRequest = await validators(version, path)
  const { method, target } = request
  const base = { version, method, target, status, code }
  // A body that the service rejects for its depth is also too deep for the validator.
  const sent = code === 'malformed_json' ? { ...request, body: undefined } : request
  const disagreement = compare(status, code, await checkRequest(sent))
  if (disagreement) return [{ ...base, ...disagreement }]
  // HEAD is GET without the body.
  const violations =
    streamed || method === 'HEAD' ? [] : checkAnswer(version, { method, path }, status, answer)
  return violations.length === 0 ? [] : [{ ...base, what: 'answer', violation: violations.join('; ') }]
}

function codeOf(answer: unknown): string | undefined {
  return (answer as { error?: { code?: string } } | undefined)?.error?.code
}

/** Error codes that follow from the document alone, independent of the handler. */
const BY_DOCUMENT = new Set(['missing_field', 'unknown_parameter', 'repeated_parameter'])

/** Statuses that the service sends only after a request has passed validation. */
const AFTER_VALIDATION = new Set([402, 409, 501])

function compare(
  status: number,
  code: string | undefined,
  violation: Violation | undefined,
): Pick<Disagreement, 'what' | 'violation'> | undefined {
  if (violation && (status < 400 || AFTER_VALIDATION.has(status))) {
    return { what: 'accepted against the document', violation: violation.message }
  }
  if (!violation && code !== undefined && BY_DOCUMENT.has(code)) {
    return { what: 'refused against the document', violation: '' }
  }
  return undefined
}
