/** The sandbox emptied: a word that is typed, a code of the member's app, and what was deleted. */
import { html } from '../../../platform/html.ts'
import { type FormPlace, perform, readValues, showForm } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn, writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { words } from '../../engine/values.ts'
import { type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { notice } from '../../html/components.ts'

export const RESET_PATH = 'reset'

const FORM = {
  operation: 'wipeSandbox',
  button: 'Delete everything in the sandbox',
  fields: [{ name: 'confirm', label: 'Type the word wipe' }],
  body: ({ confirm }: Readonly<Record<string, string>>) => ({ confirm }),
} as const

const PLACE: FormPlace = {
  title: 'Reset the sandbox',
  path: RESET_PATH,
  address: `/sandbox/${RESET_PATH}`,
  back: '/sandbox',
  warning:
    'Every template, pass, card, event, endpoint and whatever else is in the sandbox is deleted, for good. Keys, members, the version pin and all of live stay.',
  isDanger: true,
}

export function resetRoutes(send: SendFramed): DashboardRoute[] {
  const common = { environment: 'sandbox', path: PLACE.address, needs: roleFor(FORM.operation) } as const
  const { operation } = FORM
  return [
    { ...common, method: 'GET', handle: (visit) => showForm(visit, FORM, PLACE, send) },
    { ...common, operation, method: 'POST', handle: (visit) => reset(visit, send) },
  ]
}

interface Wipe {
  readonly deleted: Readonly<Record<string, number>>
}

async function reset(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const answer = await perform(visit, FORM, {})
  if (!answer.ok)
    return showForm(visit, FORM, PLACE, send, { values: readValues(visit, FORM.fields), error: answer.error })
  const deleted = Object.entries((answer.body as Wipe).deleted).filter(([, count]) => count > 0)
  const content = html`${notice('good', deleted.length === 0 ? 'There was nothing to delete.' : 'The sandbox is empty.')}
${
  deleted.length > 0 &&
  writeTable(
    'What was deleted',
    [
      { title: 'What', show: ([type]: readonly [string, number]) => words(type) },
      { title: 'How many', show: ([, count]) => String(count) },
    ],
    deleted,
    linkIn(visit),
  )
}
<p>${linkIn(visit)('', 'Begin anew')}</p>`
  send(visit, 200, { title: 'The sandbox is reset', path: RESET_PATH, content })
}
