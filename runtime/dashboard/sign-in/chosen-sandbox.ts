/** The named sandbox that a browser shows in place of the default one. */
import type { Request, Response } from 'express'
import { readSandbox } from '../../account/sandboxes/queries.ts'
import type { Database } from '../../database/database.ts'
import { isId } from '../../platform/ids.ts'
import { cookieOf } from './sessions.ts'

/** A sandbox as pages name it. */
export interface ChosenSandbox {
  readonly id: string
  readonly name: string
}

const COOKIE = 'svc_sandbox'

const MAX_AGE_S = 30 * 86_400

/** Returns the chosen sandbox; undefined for the default sandbox, and if the chosen one was deleted. */
export async function findChosenSandbox(
  db: Database,
  tenantId: string,
  request: Request,
): Promise<ChosenSandbox | undefined> {
  const id = cookieOf(request, COOKIE)
  if (id === undefined || !isId('sbx', id)) return undefined
  return readSandbox(db, tenantId, id)
}

/** Sets the cookie. @param id undefined for the default sandbox. @param origin origin of the console. */
export function chooseSandbox(response: Response, id: string | undefined, origin: string): void {
  const age = id === undefined || !isId('sbx', id) ? 0 : MAX_AGE_S
  const secure = origin.startsWith('https:') ? '; Secure' : ''
  const value = `${COOKIE}=${age === 0 ? '' : id}; Max-Age=${age}`
  response.append('Set-Cookie', `${value}; Path=/; HttpOnly; SameSite=Lax${secure}`)
}
