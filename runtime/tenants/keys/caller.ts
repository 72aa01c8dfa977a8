import type { Environment } from '../../platform/environment.ts'

/** The caller of a request, after authentication and version resolution. */
export interface Caller {
  readonly tenant: {
    readonly id: string
    readonly name: string
    readonly plan: 'trial' | 'standard' | 'enterprise'
    readonly created: number
  }
  /** `tenant_id` of the tenant's rows in this environment, except in the audit log. */
  readonly space: string
  readonly environment: Environment
  readonly key: {
    readonly id: string
    readonly kind: 'secret' | 'publishable'
    readonly scope: 'read' | 'write' | 'admin' | null
  }
  readonly version: string
}
