/** The page of one audit entry: who did what to what, and what it changed. */
import type { components } from '../../../../generated/canonical/types.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { isId, timeOfId } from '../../../platform/ids.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { isMembers, type Members } from '../../engine/json.ts'
import { linkNaming } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { ApiPage, LinkTo, ShownText } from '../../engine/shapes.ts'
import { code, exactly, orDash, state, words } from '../../engine/values.ts'
import { ApiRefused, type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'
import { panel } from '../../html/records.ts'

export type ShownEntry = components['schemas']['AuditEntry']
type EventObject = components['schemas']['Event']

export const AUDIT_PATH = 'audit-log'

export function auditEntryRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'GET',
    path: `/${environment}/${AUDIT_PATH}/:id`,
    environment,
    needs: roleFor('listAuditEntries'),
    handle: async (visit, id) => {
      const entry = await readEntry(visit, id)
      if (!entry) throw new ApiRefused(404, 'Audit entry not found.')
      const link = await linkNaming(visit, entry)
      send(visit, 200, {
        title: words(entry.action.replaceAll('.', '_')),
        path: AUDIT_PATH,
        trail: link(AUDIT_PATH, 'Audit log'),
        badge: state(entry.outcome),
        content: html`<div class="record"><div>${await writeEvents(entry, visit, link)}</div>
<aside class="panel" aria-label="Details">${facts(entryFacts(entry, link))}</aside></div>`,
      })
    },
  }))
}

/** Writes the actor by name, or its type if it is the service or its operator. */
export const writeActor = ({ actor }: ShownEntry, link: LinkTo): ShownText =>
  actor.id === null ? words(actor.type) : link.to(actor.id)

const entryFacts = (entry: ShownEntry, link: LinkTo): readonly (readonly [string, ShownText])[] => [
  ['ID', code(entry.id)],
  ['Action', code(entry.action)],
  ['Actor', writeActor(entry, link)],
  ['Target', link.to(entry.target_id)],
  ['Created', exactly(entry.created)],
  ['IP address', orDash(entry.ip)],
  ['Version', orDash(entry.version)],
  ['Request', link.to(entry.request_id)],
  ['Hash', code(entry.hash)],
]

/** Entries are listed by time, which the ID contains. */
async function readEntry(visit: DashboardVisit, id: string): Promise<ShownEntry | undefined> {
  if (!isId('aud', id)) return undefined
  const query = { ...within(new Date(timeOfId(id)).toISOString()), limit: '100' }
  const { data } = await visit.read<ApiPage<ShownEntry>>('listAuditEntries', { query })
  return data.find((entry) => entry.id === id)
}

const within = (instant: string) => ({ 'created[gte]': instant, 'created[lte]': instant })

/** An action and its events have the same time. */
async function writeEvents(
  { target_id, created }: ShownEntry,
  visit: DashboardVisit,
  link: LinkTo,
): Promise<Html> {
  const { data } = await visit.read<ApiPage<EventObject>>('listEvents', { query: within(created) })
  const events = data.filter((event) => target_id !== null && subjectOf(event)?.id === target_id)
  if (events.length === 0)
    return panel('Changes', html`<p class="empty">This action changed nothing that events report.</p>`)
  return html`${events.map((event) => panel('Changes', writeChanges(event, link)))}`
}

/** The object of an event, which is its only member. */
function subjectOf({ data }: EventObject): Members | undefined {
  const [subject] = Object.values<unknown>({ ...data })
  return isMembers(subject) ? subject : undefined
}

function writeChanges(event: EventObject, link: LinkTo): Html {
  const changes = changesFrom(event.previous_attributes ?? {}, subjectOf(event) ?? {})
  const columns = [
    { title: 'Field', show: ({ name }: Change) => code(name) },
    { title: 'Before', show: ({ before }: Change) => write(before) },
    { title: 'After', show: ({ after }: Change) => write(after) },
  ]
  return html`<p>Event: ${link(`events/${event.id}`, event.type)}</p>
${changes.length > 0 && writeTable('Changes', columns, changes, link)}`
}

interface Change {
  /** Path of the field, such as `fields.points`. */
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}

/** Lists the members of maps, such as the fields of a pass, one by one. */
function changesFrom(previous: Members, now: Members, path = ''): readonly Change[] {
  return Object.entries(previous).flatMap(([name, before]): readonly Change[] => {
    const after = now[name]
    if (isMembers(before) && isMembers(after)) return changesFrom(before, after, `${path}${name}.`)
    return name === 'updated' ? [] : [{ name: path + name, before, after }]
  })
}

const write = (value: unknown): Html | string => (value === undefined ? '–' : code(JSON.stringify(value)))
