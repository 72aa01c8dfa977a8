/** Operations of the API within this process: what pages do for a member goes the way of a request with a key. */
import inject from 'light-my-request'
import { current, versions } from '../../generated/versions.ts'
import type { Environment } from '../platform/environment.ts'
import type { MemberName } from '../platform/keys/keyring.ts'
import type { ErrorBody } from './errors/errors.ts'
import type { Service } from './exchange.ts'
import { runPipeline } from './pipeline.ts'
import type { Operation } from './routing.ts'

/** A member, and the address that the member's browser has. */
export interface ActingMember extends MemberName {
  readonly address: string
}

export interface OperationInput {
  readonly path?: Readonly<Record<string, string>>
  /** Empty values are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  /** A UUID: every POST needs one. */
  readonly idempotencyKey?: string
  /** A code of the member's authenticator app, for what needs a second factor. */
  readonly factor?: string
}

export type OperationAnswer =
  | { readonly ok: true; readonly status: number; readonly body: unknown }
  | { readonly ok: false; readonly status: number; readonly error: ErrorBody }

/**
 * Performs an operation as a member, in the newest version: through every stage that a request goes through, so validated,
 * limited, held to the scope of the member's role, idempotent and audited as it is. Rejects only where the operation is unknown.
 */
export type Operate = (
  member: ActingMember,
  environment: Environment,
  operationId: string,
  input?: OperationInput,
) => Promise<OperationAnswer>

const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  versions.find(({ name }) => name === current)?.operations.map((operation) => [operation.id, operation]),
)

/** The operation of the newest version. @throws when there is none of that name. */
export function findOperation(operationId: string): Operation {
  const operation = OPERATIONS.get(operationId)
  if (!operation) throw new Error(`there is no operation ${operationId}`)
  return operation
}

export function createOperate(services: Readonly<Record<Environment, Service>>): Operate {
  return async (member, environment, operationId, input = {}) => {
    const { method, path } = findOperation(operationId)
    const { body, idempotencyKey, factor } = input
    const response = await inject(
      (request, answered) => void runPipeline(request, answered, services[environment], member),
      {
        method: method as 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
        url: fillPath(path, input.path ?? {}) + writeQuery(input.query ?? {}),
        remoteAddress: member.address,
        headers: {
          'service-version': current,
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          ...(factor !== undefined && { 'service-factor': factor }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      },
    )
    const status = response.statusCode
    const answer: unknown = response.payload === '' ? undefined : JSON.parse(response.payload)
    return status < 400
      ? { ok: true, status, body: answer }
      : { ok: false, status, error: (answer as { readonly error: ErrorBody }).error }
  }
}

function fillPath(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(values[name] ?? ''))
}

function writeQuery(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][])}`
}
