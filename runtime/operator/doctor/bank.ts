/** Checks whether dollar payouts are possible. */
import { messageOf } from '../../database/errors.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const ASK_TIMEOUT_MS = 2000

/** ID of a payment that does not exist. A 404 response shows that the bank accepts the token. */
const NO_PAYMENT = 'doctor'

/** Asks the bank for a payment that does not exist. */
export async function checkBank({
  bank,
  production,
}: Pick<Settings, 'bank' | 'production'>): Promise<Finding> {
  if (!bank) {
    return production
      ? warn('bank', 'live cannot pay out dollars: set SVC_BANK_URL and SVC_BANK_TOKEN')
      : ok('bank', 'SVC_BANK_URL is not set: a fake bank makes the payouts')
  }
  try {
    const { status } = await fetch(`${bank.url}/payments/${NO_PAYMENT}`, {
      headers: { Authorization: `Bearer ${bank.token}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    })
    if (status === 404) return ok('bank', `${bank.url} responds and accepts the token`)
    if (status === 401 || status === 403)
      return fail('bank', `${bank.url} rejects SVC_BANK_TOKEN with status ${status}: correct it`)
    return warn(
      'bank',
      `${bank.url} responds ${status} instead of 404 for a payment that does not exist: check SVC_BANK_URL`,
    )
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    return fail('bank', `${bank.url} cannot be reached: ${messageOf(cause)}`)
  }
}
