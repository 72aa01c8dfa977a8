/** Resets the sandbox. The member types a word and an authenticator code; the result lists the deleted records. */
import { html } from '../../../platform/html.ts'
import { type FormPlace, showForm, submitForm } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { words } from '../../engine/values.ts'
import { type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { notice } from '../../html/components.ts'

export const RESET_PATH = 'reset'

const FORM = {
  operation: 'wipeSandbox',
  button: 'Delete all sandbox data',
  fields: [{ name: 'confirm', label: 'Type wipe to confirm' }],
  body: ({ confirm }: Readonly<Record<string, string>>) => ({ confirm }),
} as const

const PLACE: FormPlace = {
  title: 'Reset sandbox',
  path: RESET_PATH,
  address: `/sandbox/${RESET_PATH}`,
  back: '/sandbox',
  warning:
    'All sandbox data is deleted permanently, including templates, passes, cards, events, and webhook endpoints. API keys, members, the pinned version, and all live data are kept.',
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
  const answer = await submitForm(visit, FORM, () => PLACE, send)
  if (!answer) return
  const deleted = Object.entries((answer.body as Wipe).deleted).filter(([, count]) => count > 0)
  const content = html`${notice('good', deleted.length === 0 ? 'The sandbox was already empty.' : 'All sandbox data was deleted.')}
${
  deleted.length > 0 &&
  writeTable(
    'Deleted records',
    [
      { title: 'Type', show: ([type]: readonly [string, number]) => words(type) },
      { title: 'Count', show: ([, count]) => String(count) },
    ],
    deleted,
    linkIn(visit),
  )
}
<p>${linkIn(visit)('', 'Go to the home page')}</p>`
  send(visit, 200, { title: 'Sandbox reset', path: RESET_PATH, content })
}
