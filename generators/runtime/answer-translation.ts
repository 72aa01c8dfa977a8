/** How the answer to a request reaches the caller's version: its status, and the translation of its body. */
import type { Operation, Translate } from './contract.ts'

/** @returns the status in the caller's version for a status of the canonical version. */
export const shownStatus = (operation: Pick<Operation, 'downStatus'>, status: number): number =>
  operation.downStatus?.[status] ?? status

/**
 * @param status in the caller's version
 * @returns the translation of the answer's body from the canonical version, or undefined if nothing changes. The narrowest
 *   entry decides: the status itself, then its range (`4XX`), then `default` for errors.
 */
export function findAnswerTranslation(
  { status: success, down, downs }: Pick<Operation, 'status' | 'down' | 'downs'>,
  status: number,
): Translate | undefined {
  if (status === success) return down
  if (downs) {
    const names = [String(status), `${Math.trunc(status / 100)}XX`, ...(status < 400 ? [] : ['default'])]
    const name = names.find((each) => Object.hasOwn(downs, each))
    if (name !== undefined) return downs[name]
  }
  return status < 400 ? down : undefined
}
