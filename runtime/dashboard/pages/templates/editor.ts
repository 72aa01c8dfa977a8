/** The template editor. It shows a live preview and saves only the changed values. */
import type { components } from '../../../../generated/canonical/types.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { showTenant } from '../../../tenants/admin/show.ts'
import { KEY } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { ApiPage, Identified } from '../../engine/shapes.ts'
import { ApiRefused, type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { notice } from '../../html/components.ts'
import { formField } from '../../html/forms.ts'
import {
  changedPaths,
  contentOf,
  createBody,
  type DraftContent,
  digest,
  draftOf,
  mergeDrafts,
  NEW,
  patchBody,
  readDigest,
  type TemplateDraft,
  type TemplateObject,
} from './draft.ts'
import { BEGAN, type Editor, LANGUAGE, writeEditor } from './editor-page.ts'
import { COLORS_PATH, drawSamples, sendColors, writePreview } from './preview.ts'
import { changeRows, readDraft } from './typed.ts'

type AuditEntryObject = components['schemas']['AuditEntry']

const PATH = 'pass-templates'

/** Room for all images twice: as uploaded files, and as base64 in hidden fields. */
const MAX_FORM_BYTES = 5 * 1024 * 1024

/** Routes of the editor. Register them before the routes of the resource, whose `:id` would match `new` and `colors.css`. */
export function templateRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment): DashboardRoute[] => {
    const list = `/${environment}/${PATH}`
    const creates = { environment, path: `${list}/new`, needs: roleFor('createPassTemplate') }
    const updates = { environment, path: `${list}/:id/edit`, needs: roleFor('updatePassTemplate') }
    return [
      {
        method: 'GET',
        environment,
        path: `/${environment}/${COLORS_PATH}`,
        needs: 'viewer',
        handle: sendColors,
      },
      { ...creates, method: 'GET', handle: (visit) => show(send, visit, { draft: NEW }) },
      { ...creates, method: 'POST', maxBytes: MAX_FORM_BYTES, handle: (visit) => create(send, visit) },
      {
        ...updates,
        method: 'GET',
        handle: async (visit, id) => {
          const template = await readTemplate(visit, id)
          return show(send, visit, { draft: draftOf(template), template })
        },
      },
      {
        ...updates,
        method: 'POST',
        maxBytes: MAX_FORM_BYTES,
        handle: (visit, id) => update(send, visit, id),
      },
    ]
  })
}

function readTemplate(visit: DashboardVisit, template_id: string): Promise<TemplateObject> {
  return visit.read<TemplateObject>('getPassTemplate', { path: { template_id } })
}

async function show(
  send: SendFramed,
  visit: DashboardVisit,
  editor: Pick<Editor, 'draft' | 'template' | 'error' | 'news'>,
  status = 200,
): Promise<void> {
  const { draft, template } = editor
  const list = `/${visit.environment}/${PATH}`
  const back = template ? `${list}/${template.id}` : list
  const language = formField(visit.request, LANGUAGE)
  const [preview, samples] = await Promise.all([writePreview(visit, draft, language), drawSamples(visit)])
  send(visit, status, {
    title: template ? `Edit template: ${template.name}` : 'Create template',
    path: PATH,
    scripts: ['template-preview.js', 'image-crop.js', 'row-order.js'],
    content: writeEditor(visit, {
      ...editor,
      back,
      address: template ? `${back}/edit` : `${list}/new`,
      preview,
      language,
      samples,
    }),
  })
}

async function create(send: SendFramed, visit: DashboardVisit): Promise<void> {
  const draft = readDraft(visit.request, { ...NEW, fields: [] })
  const button = formField(visit.request, 'do')
  if (button !== '') return show(send, visit, { draft: changeRows(draft, button) ?? draft })
  const answer = await visit.operate('createPassTemplate', {
    body: createBody(draft),
    idempotencyKey: formField(visit.request, KEY),
  })
  if (!answer.ok) return show(send, visit, { draft, error: answer.error }, 422)
  visit.finish(`/${visit.environment}/${PATH}/${(answer.body as Identified).id}`, 'Template created')
}

async function update(send: SendFramed, visit: DashboardVisit, id: string): Promise<void> {
  const template = await readTemplate(visit, id)
  const now = draftOf(template)
  const typed = readDraft(visit.request, now)
  const began = readBegan(visit)
  const draft = mergeDrafts(began, typed, now)
  const button = formField(visit.request, 'do')
  const news =
    changedPaths(began, digest(contentOf(now))).length > 0
      ? await writeNews(visit, id, began, now, typed)
      : undefined
  if (button !== '') return show(send, visit, { draft: changeRows(draft, button) ?? draft, template, news })
  if (news) return show(send, visit, { draft, template, news }, 409)
  const body = patchBody(contentOf(now), contentOf(draft))
  if (Object.keys(body).length > 0) {
    const answer = await visit.operate('updatePassTemplate', { path: { template_id: id }, body })
    if (!answer.ok) return show(send, visit, { draft, template, error: answer.error }, 422)
  }
  visit.finish(`/${visit.environment}/${PATH}/${id}`, 'Template saved')
}

/** Returns the state of the template when the form was loaded. */
function readBegan({ request }: DashboardVisit): DraftContent {
  const began = readDigest(formField(request, BEGAN))
  if (!began)
    throw new ApiRefused(422, 'The form is incomplete. Reload the page and enter your changes again.')
  return began
}

/** Describes changes that another member or a program saved since the form was loaded. */
async function writeNews(
  visit: DashboardVisit,
  id: string,
  began: DraftContent,
  now: TemplateDraft,
  typed: TemplateDraft,
): Promise<Html> {
  const [theirs, mine] = [now, typed].map((each) => digest(contentOf(each))) as [DraftContent, DraftContent]
  const rows = changedPaths(began, theirs).map((path) => ({
    path,
    was: began[path],
    is: theirs[path],
    own: mine[path],
    isOwn: changedPaths(began, mine).includes(path),
  }))
  return html`${notice('warn', `${await findEditor(visit, id)} changed this template while you were editing it. Your changes are not saved yet. The form below combines both sets of changes; where both changed the same value, it contains yours. To keep the result, save the template again.`)}
${writeTable(
  'Changes since you opened the template',
  [
    { title: 'Field', show: ({ path }) => path },
    { title: 'Before', show: ({ path, was }) => showValue(path, was) },
    { title: 'Now', show: ({ path, is }) => showValue(path, is) },
    { title: 'Your form', show: ({ path, own, isOwn }) => (isOwn ? showValue(path, own) : 'Unchanged') },
  ],
  rows,
  linkIn(visit),
)}`
}

/** Returns who changed the template last. Only members who may read the audit log see the name. */
async function findEditor(visit: DashboardVisit, target_id: string): Promise<string> {
  const { member, operator } = visit
  if (!mayAct(member.role, roleFor('listAuditEntries'))) return 'Another member'
  const query = { target_id, limit: '1' }
  const { data } = await visit.read<ApiPage<AuditEntryObject>>('listAuditEntries', { query })
  const actor = data[0]?.actor
  if (actor?.type === 'key') return 'A request with an API key'
  const { members } = await showTenant(operator, member.tenantId)
  const email = members.find(({ id }) => id === actor?.id)?.email
  return typeof email === 'string' ? email : 'Another member'
}

function showValue(path: string, value: unknown): Html | string {
  if (value === null || value === undefined) return '–'
  if (/^brand\.(?:icon|logo|strip)$|^apple_poster$|^images\./.test(path)) return 'Image'
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return JSON.stringify(value)
  const lines = value.map((row: object) => Object.values(row).join(', '))
  return html`${lines.map((line) => html`${line}<br>`)}`
}
