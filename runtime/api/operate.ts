/**
 * Calls API operations within the process. An action on a page runs through the same pipeline as a request
 * with a key.
 */

import { randomUUID } from 'node:crypto'
import inject from 'light-my-request'
import type { Handlers } from '../../generated/canonical/handlers.ts'
import { current, versions } from '../../generated/versions.ts'
import type { Environment } from '../platform/environment.ts'
import type { ErrorBody } from './errors/errors.ts'
import type { ApiService, RequestingMember } from './exchange.ts'
import { dryRunObstacle } from './perform.ts'
import { runPipeline, splitTarget } from './pipeline.ts'
import type { ServiceOperation } from './version-table.ts'

export type OperationId = keyof Handlers<unknown>

export interface ActingMember extends RequestingMember {
  readonly address: string
}

export interface OperationInput {
  readonly path?: Readonly<Record<string, string>>
  /** Query parameters. Empty values are omitted. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  /** A UUID, which every POST needs. */
  readonly idempotencyKey?: string
}

export type OperationAnswer =
  | { readonly ok: true; readonly status: number; readonly body: unknown }
  | { readonly ok: false; readonly status: number; readonly error: ErrorBody }

/**
 * Performs an operation as a member, in the newest version. The call passes every stage of the pipeline: it is
 * validated, rate limited, restricted to the member's role, idempotent and audited. Rejects only if the operation
 * does not exist.
 */
export type Operate = (
  member: ActingMember,
  environment: Environment,
  operationId: string,
  input?: OperationInput,
) => Promise<OperationAnswer>

const OPERATIONS: ReadonlyMap<string, ServiceOperation> = new Map(
  versions.find(({ name }) => name === current)?.operations.map((operation) => [operation.id, operation]),
)

/** Returns the operation of the newest version. @throws Error if it does not exist. */
export function findOperation(operationId: string): ServiceOperation {
  const operation = OPERATIONS.get(operationId)
  if (!operation) throw new Error(`there is no operation ${operationId}`)
  return operation
}

type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

type Services = Readonly<Record<Environment, ApiService>>

export function createOperate(services: Services): Operate {
  return async (member, environment, operationId, input = {}) => {
    const { method, path } = findOperation(operationId)
    const { body, idempotencyKey } = input
    const response = await inject(throughPipeline(services[environment], member), {
      method: method as HttpMethod,
      url: fillPath(path, input.path ?? {}) + writeQuery(input.query ?? {}),
      remoteAddress: member.address,
      headers: {
        'service-version': current,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    return readAnswer(response)
  }
}

const throughPipeline =
  (service: ApiService, member: ActingMember): inject.DispatchFunc =>
  (request, answered) => {
    runPipeline(request, answered, service, member).catch((error: Error) => answered.destroy(error))
  }

function readAnswer({ statusCode: status, payload }: inject.Response): OperationAnswer {
  const answer: unknown = payload === '' ? undefined : JSON.parse(payload)
  return status < 400
    ? { ok: true, status, body: answer }
    : { ok: false, status, error: (answer as { readonly error: ErrorBody }).error }
}

/** A request of the request log. */
export interface RequestToRepeat {
  readonly method: string
  /** Path and query, undecoded. */
  readonly target: string
  /** JSON text; null without a body. */
  readonly body: string | null
}

/** The answer, or the reason why the request is not repeated. */
export type RepeatedAnswer = (OperationAnswer & { readonly bytes: number }) | { readonly skipped: string }

/**
 * Repeats a request as a member, in any version, through every stage of the pipeline. A write runs in a transaction that is rolled
 * back. Operations for which that is not possible are skipped.
 */
export type DryRun = (
  member: ActingMember,
  environment: Environment,
  version: string,
  request: RequestToRepeat,
) => Promise<RepeatedAnswer>

export function createDryRun(services: Services): DryRun {
  return async (member, environment, version, { method, target, body }) => {
    const service = services[environment]
    const { path } = splitTarget(target)
    const route = service.versions.find(version)?.matcher.match(path)?.routes.get(method)
    const skipped = route && dryRunObstacle(route)
    if (skipped !== undefined) return { skipped }
    const response = await inject(throughPipeline(service, { ...member, isDryRun: true }), {
      method: method as HttpMethod,
      url: target,
      remoteAddress: member.address,
      headers: {
        'service-version': version,
        // The log has no headers. The key is not claimed.
        ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
        ...(body !== null && { 'content-type': 'application/json' }),
      },
      ...(body !== null && { payload: body }),
    })
    return { ...readAnswer(response), bytes: response.rawPayload.length }
  }
}

function fillPath(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(values[name] ?? ''))
}

function writeQuery(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][])}`
}
