/** One request of a member for a page: who asks, where, and what may be done on its behalf. */
import type { Request, Response } from 'express'
import {
  findOperation,
  type OperationAnswer,
  type OperationId,
  type OperationInput,
  type ReplayRead,
} from '../../api/operate.ts'
import type { Database } from '../../database/database.ts'
import type { Barcodes } from '../../passes/wallets/pages/barcodes.ts'
import type { Barcode } from '../../passes/wallets/render/page/barcode.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Html } from '../../platform/html.ts'
import type { Operator } from '../../tenants/admin/change.ts'
import type { SignedInMember } from '../sign-in/sessions.ts'

/** From least to most. */
export const ROLES = ['viewer', 'developer', 'owner'] as const
export type VisitRole = (typeof ROLES)[number]

/** Where the member's tenant has its data in an environment. */
export interface TenantPlace {
  readonly db: Database
  /** The `tenant_id` of its rows. */
  readonly space: string
}

export interface DashboardVisit {
  readonly member: SignedInMember
  readonly environment: Environment
  /** Of the member's browser, as the audit log writes it. */
  readonly address: string
  /** Of the console. */
  readonly origin: string
  /** The operator's functions, done by the member. */
  readonly operator: Operator
  readonly request: Request
  readonly response: Response
  /** Performs an operation of the API as the member, in the environment of the page. */
  operate(operationId: OperationId, input?: OperationInput): Promise<OperationAnswer>
  /** Performs a read; a refusal of it is thrown, as a `Refused`. */
  read<Body>(operationId: OperationId, input?: OperationInput): Promise<Body>
  /** Makes a read that the request log has once more, in any version. */
  replayRead(version: string, target: string): ReturnType<ReplayRead>
  /** Path below the environment of the page that shows what an identifier names; undefined if it has none there. */
  pageOf(id: string): string | undefined
  /** Where the tenant has its data in the environment, for what no operation tells. */
  place(): Promise<TenantPlace>
  /** Draws a barcode, in the tenant's turn. */
  draw(barcode: Barcode): ReturnType<Barcodes['draw']>
  /** The hidden field of a form that is sent to the path. */
  guard(path: string): Html
  /** Whether the form at the page's own address takes a code of the member's app. */
  readonly takesCode: boolean
  /** Whether the session lasts: of what goes on after its page is made. */
  isSignedIn(): Promise<boolean>
}

/** The API did not do what a page needs. */
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

/** The least role whose scope an operation takes: the documents say which. @throws when the newest version has no such operation. */
export function roleFor(operationId: OperationId): VisitRole {
  return LEAST_ROLE[findOperation(operationId).extensions.scope]
}

/** Whether the environment has the operation. */
export function isServed(operationId: OperationId, environment: Environment): boolean {
  const only = findOperation(operationId).extensions.environment
  return only === undefined || only === environment
}
