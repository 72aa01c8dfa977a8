/** Tenants that this installation does not serve, because they move to or from a different one. */
import type { Database, Statement } from '../../database/database.ts'

/** Why requests of a tenant are refused, with 503. */
export interface TenantClosure {
  readonly refuses: 'writes' | 'everything'
  /** For the caller. */
  readonly message: string
}

export interface Closures {
  /** Reads the list if it may be outdated. Returns undefined if it is current. Rejects with `DatabaseUnavailable`. */
  ready(): Promise<void> | undefined
  /** Returns the closure of a tenant; undefined if it is served. Call `ready` first. */
  of(tenantId: string): TenantClosure | undefined
  /** Marks the list as outdated. */
  forget(): void
}

const READ: Statement = {
  name: 'tenant_moves_closed',
  text: `SELECT tenant_id, state, hint FROM control.tenant_moves WHERE state IN ('fenced', 'moved', 'arriving')`,
}

interface ClosedRow {
  readonly tenant_id: string
  readonly state: 'fenced' | 'moved' | 'arriving'
  readonly hint: string | null
}

function closureOf({ state, hint }: ClosedRow): TenantClosure {
  if (state === 'fenced') {
    const message =
      'The account is moving to a different installation, which takes a few seconds. Repeat the request after the time in Retry-After.'
    return { refuses: 'writes', message }
  }
  const message =
    state === 'arriving'
      ? 'The account is being moved to this installation. Repeat the request after the time in Retry-After.'
      : `The account has moved to ${hint ?? 'a different installation'}. Send requests there.`
  return { refuses: 'everything', message }
}

/** Creates the list. It is read at the first request, and again after each change of the control schema. */
export function createClosures(control: Database): Closures {
  let closures: ReadonlyMap<string, TenantClosure> = new Map()
  let latest: { readonly loaded: Promise<void>; isOver: boolean } | undefined
  const load = () => {
    const own = { loaded: Promise.resolve(), isOver: false }
    const read = async () => {
      try {
        const { rows } = await control.query<ClosedRow>(READ)
        // `forget` was called during the query, so the result may be outdated.
        if (latest !== own) return
        closures = new Map(rows.map((row) => [row.tenant_id, closureOf(row)]))
        own.isOver = true
      } catch (error) {
        if (latest === own) latest = undefined
        throw error
      }
    }
    latest = own
    return Object.assign(own, { loaded: read() })
  }
  return {
    ready() {
      const { isOver, loaded } = latest ?? load()
      return isOver ? undefined : loaded
    },
    of: (tenantId) => closures.get(tenantId),
    forget() {
      latest = undefined
    },
  }
}
