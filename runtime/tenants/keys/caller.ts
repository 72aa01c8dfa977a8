import type { Environment } from '../../platform/environment.ts'

/** Who is calling, after authentication and version resolution. */
export interface Caller {
  readonly tenant: {
    readonly id: string
    readonly name: string
    readonly plan: 'trial' | 'standard' | 'enterprise'
    readonly created: number
  }
  /** Under which the tenant's data of the environment is stored: the `tenant_id` of all its rows but the audit log's. */
  readonly space: string
  readonly environment: Environment
  readonly key: {
    readonly id: string
    readonly kind: 'secret' | 'publishable'
    readonly scope: 'read' | 'write' | 'admin' | null
  }
  readonly version: string
}
