/** The context of one page request: the member, the environment, and the permitted operations. */
import type { Request, Response } from 'express'
import {
  type DryRun,
  findOperation,
  type OperationAnswer,
  type OperationId,
  type OperationInput,
  type RequestToRepeat,
} from '../../api/operate.ts'
import type { Database } from '../../database/database.ts'
import type { Barcodes } from '../../passes/wallets/pages/barcodes.ts'
import type { Barcode } from '../../passes/wallets/render/page/barcode.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Html } from '../../platform/html.ts'
import type { Operator } from '../../tenants/admin/change.ts'
import type { ChosenSandbox } from '../sign-in/chosen-sandbox.ts'
import type { SignedInMember } from '../sign-in/sessions.ts'

/** In ascending order of permissions. */
export const ROLES = ['viewer', 'developer', 'owner'] as const
export type VisitRole = (typeof ROLES)[number]

/** Location of a tenant's data in an environment. */
export interface TenantPlace {
  readonly db: Database
  /** The `tenant_id` of the tenant's rows. */
  readonly space: string
}

/** The member of a visit. Operations and reads happen in `sandboxId`. */
export interface VisitingMember extends SignedInMember {
  /** The named sandbox that takes the place of the default one; absent: the default sandbox, or live. */
  readonly sandbox?: ChosenSandbox | undefined
  readonly sandboxId?: string | undefined
}

export interface DashboardVisit {
  readonly member: VisitingMember
  readonly environment: Environment
  /** IANA time zone in which the page shows times. */
  readonly timeZone: string
  /** IP address of the browser, in the format of the audit log. */
  readonly address: string
  /** Origin of the console. */
  readonly origin: string
  /** Base URL of the API in the environment of the page. */
  readonly apiUrl: string
  /** Operator functions, with the member as the actor in audit entries. */
  readonly operator: Operator
  readonly request: Request
  readonly response: Response
  /** Performs an operation of the API as the member, in the environment of the page. */
  operate(operationId: OperationId, input?: OperationInput): Promise<OperationAnswer>
  /** Performs a read operation. @throws `ApiRefused` if the API returns an error. */
  read<Body>(operationId: OperationId, input?: OperationInput): Promise<Body>
  /** Repeats a logged request in the given version, without effects. */
  dryRun(version: string, logged: RequestToRepeat): ReturnType<DryRun>
  /** Returns the path of an ID's page below the environment, or undefined if the environment has no such page. */
  pageOf(id: string): string | undefined
  /** Returns the names of records by ID. Records without a name are missing. */
  names(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Returns the IDs of records whose name or email address begins with the text. */
  findNamed(text: string): Promise<readonly string[]>
  /** Returns the location of the tenant's data, for reads that no API operation provides. */
  place(): Promise<TenantPlace>
  /** Draws a barcode. Drawing is scheduled fairly between tenants. */
  draw(barcode: Barcode): ReturnType<Barcodes['draw']>
  /** Redirects to a page after an action. @param done what was done, such as "Card frozen". The page shows it once. */
  finish(path: string, done: string): void
  /** Returns what the last action did, once. Undefined if no action has just finished. */
  takeDone(): string | undefined
  /** Returns the hidden CSRF field of a form that is submitted to the path. */
  guard(path: string): Html
  /** Whether a form that is submitted to the path of this page requires an authenticator code. */
  readonly takesCode: boolean
  /** Whether the session is still valid. Long-running responses check it repeatedly. */
  isSignedIn(): Promise<boolean>
}

/** Returns a parameter of the page's query, or an empty text. */
export function queryText({ request }: DashboardVisit, name: string): string {
  const value = request.query[name]
  return typeof value === 'string' ? value : ''
}

/** The API refused an operation that the page needs. */
export class ApiRefused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export function mayAct(role: VisitRole, needs: VisitRole): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needs)
}

const LEAST_ROLE = { any: 'viewer', read: 'viewer', write: 'developer', admin: 'owner' } as const

/**
 * Returns the least privileged role that may perform the operation, from its `x-scope`.
 *
 * @throws if the newest version has no such operation.
 */
export function roleFor(operationId: OperationId): VisitRole {
  return LEAST_ROLE[findOperation(operationId).extensions.scope]
}

export function isServed(operationId: OperationId, environment: Environment): boolean {
  const only = findOperation(operationId).extensions.environment
  return only === undefined || only === environment
}
