/** Named sandboxes: which one the dashboard shows, and their snapshots. */
import type { components } from '../../../../generated/canonical/types.ts'
import type { OperationId } from '../../../api/operate.ts'
import { type Html, html } from '../../../platform/html.ts'
import { describe, keyField, perform } from '../../engine/form-page.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { type ApiPage, type FormField, type LinkTo, type ListColumn, resource } from '../../engine/shapes.ts'
import { code, state, when } from '../../engine/values.ts'
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { chooseSandbox } from '../../sign-in/chosen-sandbox.ts'

type Schemas = components['schemas']
type Sandbox = Schemas['Sandbox']
type Snapshot = Schemas['SandboxSnapshot']

const PATH = 'sandboxes'

const NAME: FormField = { name: 'name', label: 'Name' }

export const SANDBOXES = resource<Sandbox>({
  path: PATH,
  menu: 'keys',
  title: 'Sandboxes',
  intro: 'Each sandbox has its own data and its own API keys. Every account also has a default sandbox.',
  environment: 'sandbox',
  list: {
    operation: 'listSandboxes',
    columns: [
      { title: 'Name', show: ({ name }) => name },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    empty: 'No sandboxes yet. Create a sandbox for a test suite or a colleague.',
    above: (visit) => {
      const { sandbox } = visit.member
      return html`${sandbox && html`<p>The dashboard shows the sandbox ${sandbox.name}.</p>${writeUse('default', 'Show the default sandbox', visit)}`}`
    },
  },
  create: {
    operation: 'createSandbox',
    title: 'Create sandbox',
    button: 'Create sandbox',
    fields: [NAME],
    secret: (answer) => (answer as Sandbox).secret_key,
  },
  detail: {
    operation: 'getSandbox',
    parameter: 'sandbox_id',
    name: ({ name }) => name,
    facts: ({ id, status, created, updated }) => [
      ['ID', code(id)],
      ['Status', state(status)],
      ['Created', when(created)],
      ['Updated', when(updated)],
    ],
    sections: [
      { title: 'On the dashboard', write: ({ id }, visit) => writeUse(id, 'Show this sandbox', visit) },
      { title: 'Snapshots', write: writeSnapshots },
    ],
    actions: [
      {
        name: 'rename',
        operation: 'updateSandbox',
        button: 'Rename sandbox',
        fields: [NAME],
        values: ({ name }) => ({ name }),
      },
      {
        name: 'snapshot',
        operation: 'createSandboxSnapshot',
        button: 'Take snapshot',
        done: 'Snapshot started',
        fields: [NAME],
      },
      {
        name: 'delete',
        operation: 'deleteSandbox',
        button: 'Delete sandbox',
        warning: 'All data and all API keys of this sandbox are deleted. You cannot undo this.',
        isDanger: true,
        removes: true,
      },
    ],
  },
})

const CHANGES = {
  restore: {
    operation: 'restoreSandboxSnapshot',
    button: 'Restore',
    done: 'The snapshot is being restored',
  },
  delete: { operation: 'deleteSandboxSnapshot', button: 'Delete', done: 'Snapshot deleted' },
} as const satisfies Record<string, { operation: OperationId; button: string; done: string }>

type ChangeName = keyof typeof CHANGES

const NAMES: readonly ChangeName[] = ['restore', 'delete']

const COLUMNS: readonly ListColumn<Snapshot>[] = [
  { title: 'Name', show: ({ name }) => name },
  { title: 'Status', show: ({ status }) => state(status) },
  { title: 'Created', show: ({ created }) => when(created) },
]

async function writeSnapshots({ id }: Sandbox, visit: DashboardVisit, link: LinkTo): Promise<Html> {
  const { data } = await visit.read<ApiPage<Snapshot>>('listSandboxSnapshots', { path: { sandbox_id: id } })
  if (data.length === 0)
    return html`<p class="empty">No snapshots yet. Take a snapshot to return to the current state later.</p>`
  const change: ListColumn<Snapshot> = {
    title: 'Actions',
    show: (snapshot) =>
      snapshot.status === 'done' ? html`${NAMES.map((name) => writeChange(snapshot, name, visit))}` : '–',
  }
  const mayChange = mayAct(visit.member.role, roleFor('restoreSandboxSnapshot'))
  return writeTable('Snapshots', mayChange ? [...COLUMNS, change] : COLUMNS, data, link)
}

function writeChange({ id, sandbox_id, name: of }: Snapshot, name: ChangeName, visit: DashboardVisit): Html {
  const address = `/sandbox/${PATH}/${sandbox_id}/snapshots/${id}/${name}`
  const { button } = CHANGES[name]
  return html`<form method="post" action="${address}">${visit.guard(address)}${keyField()}<button class="second small" type="submit" aria-label="${`${button} ${of}`}">${button}</button></form>`
}

/** Writes the button that makes the dashboard show a sandbox. @param id `default` for the default sandbox. */
function writeUse(id: string, text: string, visit: DashboardVisit): Html {
  const address = `/sandbox/${PATH}/${id}/use`
  return html`<form method="post" action="${address}">${visit.guard(address)}<button class="second" type="submit">${text}</button></form>`
}

/** The routes that restore and delete snapshots, and that choose the sandbox of the dashboard. */
export function sandboxRoutes(): DashboardRoute[] {
  const changes = NAMES.map(
    (name): DashboardRoute => ({
      method: 'POST',
      path: `/sandbox/${PATH}/:id/snapshots/:snapshot/${name}`,
      environment: 'sandbox',
      needs: roleFor(CHANGES[name].operation),
      handle: async (visit, sandbox_id) => {
        const { snapshot } = visit.request.params
        const { operation, button, done } = CHANGES[name]
        const form = { operation, button, fields: [] }
        const path = { sandbox_id, snapshot_id: typeof snapshot === 'string' ? snapshot : '' }
        const answer = await perform(visit, form, path)
        visit.finish(`/sandbox/${PATH}/${sandbox_id}`, answer.ok ? done : describe(answer.error))
      },
    }),
  )
  return [
    ...changes,
    {
      method: 'POST',
      path: `/sandbox/${PATH}/:id/use`,
      environment: 'sandbox',
      needs: 'viewer',
      handle: (visit, id) => {
        chooseSandbox(visit.response, id === 'default' ? undefined : id, visit.origin)
        visit.finish('/sandbox', 'Sandbox chosen')
      },
    },
  ]
}
