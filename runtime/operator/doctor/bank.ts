/** Whether payouts in dollars can be made. */
import { messageOf } from '../../database/errors.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const ASK_TIMEOUT_MS = 2000

/** A payment that no bank has: to be told so is to be known. */
const NO_PAYMENT = 'doctor'

/** Asks the bank for a payment that is not there. */
export async function checkBank({
  bank,
  production,
}: Pick<Settings, 'bank' | 'production'>): Promise<Finding> {
  if (!bank) {
    return production
      ? warn('bank', 'live makes no payouts in dollars: set SVC_BANK_URL and SVC_BANK_TOKEN')
      : ok('bank', 'a stand-in takes its place')
  }
  try {
    const { status } = await fetch(`${bank.url}/payments/${NO_PAYMENT}`, {
      headers: { Authorization: `Bearer ${bank.token}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    })
    if (status === 404) return ok('bank', `${bank.url} answers, and takes the token`)
    if (status === 401 || status === 403) return fail('bank', `${bank.url} refuses SVC_BANK_TOKEN: ${status}`)
    return warn('bank', `${bank.url} answers ${status} for a payment that is not there: is it SVC_BANK_URL?`)
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    return fail('bank', `${bank.url} cannot be asked: ${messageOf(cause)}`)
  }
}
