/** Named sandboxes: which one the dashboard shows, and their snapshots. */
import type { components } from '../../../../generated/canonical/types.ts'
import type { OperationId } from '../../../api/operate.ts'
import { type Html, html } from '../../../platform/html.ts'
import { type FormPlace, showForm, submitForm } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
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

const SOURCE: FormField = {
  name: 'source',
  label: 'Start with',
  kind: 'choice',
  options: [
    ['', 'Nothing'],
    ['default', 'A copy of the default sandbox'],
    ['live', 'The configuration of live'],
    ['other', 'A copy of a sandbox or of a snapshot'],
  ],
}

const FROM: FormField = {
  name: 'from',
  label: 'Copy of',
  hint: 'ID of a sandbox or of a snapshot.',
  when: [{ name: 'source', is: 'other' }],
}

const STARTS_AT: FormField = {
  name: 'starts_at',
  label: 'Clock starts on',
  kind: 'date',
  optional: true,
  hint: 'A day in the past, for a history with dates. Leave empty for the present.',
}

const SCOPE: FormField = {
  name: 'scope',
  label: 'Scope',
  kind: 'choice',
  options: [
    ['admin', 'Read, write and administer'],
    ['write', 'Read and write'],
    ['read', 'Read'],
  ],
}

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
    fields: [NAME, SOURCE, FROM, STARTS_AT],
    body: ({ name, source, from, starts_at }) => ({
      name,
      ...(source && { from: source === 'other' ? from : source }),
      ...(starts_at && { starts_at }),
    }),
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
        name: 'key',
        operation: 'createSandboxKey',
        button: 'Create API key',
        warning: 'A new secret key of this sandbox is created and shown once.',
        fields: [SCOPE],
        secret: (answer) => (answer as Schemas['SandboxKey']).secret_key,
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

interface SnapshotChange {
  readonly operation: OperationId
  readonly text: string
  readonly button: string
  readonly warning: string
  readonly done: string
}

const CHANGES = {
  restore: {
    operation: 'restoreSandboxSnapshot',
    text: 'Restore',
    button: 'Restore snapshot',
    warning: 'Everything that changed in the sandbox since the snapshot is lost. You cannot undo this.',
    done: 'The snapshot is being restored',
  },
  delete: {
    operation: 'deleteSandboxSnapshot',
    text: 'Delete',
    button: 'Delete snapshot',
    warning: 'The snapshot is deleted, and the sandbox stays as it is. You cannot undo this.',
    done: 'Snapshot deleted',
  },
} as const satisfies Record<string, SnapshotChange>

type ChangeName = keyof typeof CHANGES

const NAMES: readonly ChangeName[] = ['restore', 'delete']

const COLUMNS: readonly ListColumn<Snapshot>[] = [
  { title: 'Name', show: ({ name }) => name },
  { title: 'ID', show: ({ id }) => code(id) },
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
      snapshot.status === 'done' ? html`${NAMES.map((name) => writeChange(snapshot, name))}` : '–',
  }
  const mayChange = mayAct(visit.member.role, roleFor('restoreSandboxSnapshot'))
  return writeTable('Snapshots', mayChange ? [...COLUMNS, change] : COLUMNS, data, link)
}

const addressOf = (sandboxId: string, id: string, name: ChangeName) =>
  `/sandbox/${PATH}/${encodeURIComponent(sandboxId)}/snapshots/${encodeURIComponent(id)}/${name}`

function writeChange({ id, sandbox_id, name: of }: Snapshot, name: ChangeName): Html {
  const { text } = CHANGES[name]
  return html`<a href="${addressOf(sandbox_id, id, name)}" aria-label="${`${text} ${of}`}">${text}</a> `
}

/** Writes the button that makes the dashboard show a sandbox. @param id `default` for the default sandbox. */
function writeUse(id: string, text: string, visit: DashboardVisit): Html {
  const address = `/sandbox/${PATH}/${id}/use`
  return html`<form method="post" action="${address}">${visit.guard(address)}<button class="second" type="submit">${text}</button></form>`
}

/** The pages that restore and delete a snapshot after a warning. */
function changeRoutes(name: ChangeName, send: SendFramed): DashboardRoute[] {
  const { operation, button, warning, done } = CHANGES[name]
  const form = { operation, button, fields: [] }
  const parametersOf = ({ request: { params } }: DashboardVisit, sandbox_id: string) => ({
    sandbox_id,
    snapshot_id: typeof params.snapshot === 'string' ? params.snapshot : '',
  })
  const placeOf = async (visit: DashboardVisit, sandboxId: string): Promise<FormPlace> => {
    const parameters = parametersOf(visit, sandboxId)
    const snapshot = await visit.read<Snapshot>('getSandboxSnapshot', { path: parameters })
    return {
      title: `${button}: ${snapshot.name}`,
      path: PATH,
      address: addressOf(sandboxId, snapshot.id, name),
      back: `/sandbox/${PATH}/${encodeURIComponent(sandboxId)}`,
      parameters,
      warning,
      isDanger: true,
    }
  }
  const common = {
    path: `/sandbox/${PATH}/:id/snapshots/:snapshot/${name}`,
    environment: 'sandbox',
    needs: roleFor(operation),
  } as const
  return [
    {
      ...common,
      method: 'GET',
      handle: async (visit, id) => showForm(visit, form, await placeOf(visit, id), send),
    },
    {
      ...common,
      method: 'POST',
      handle: async (visit, id) => {
        const answer = await submitForm(visit, form, () => placeOf(visit, id), send, parametersOf(visit, id))
        if (answer) visit.finish(`/sandbox/${PATH}/${encodeURIComponent(id)}`, done)
      },
    },
  ]
}

/** The routes that restore and delete snapshots, and that choose the sandbox of the dashboard. */
export function sandboxRoutes(send: SendFramed): DashboardRoute[] {
  return [
    ...NAMES.flatMap((name) => changeRoutes(name, send)),
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
