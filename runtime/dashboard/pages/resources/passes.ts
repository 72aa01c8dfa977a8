import type { components } from '../../../../generated/canonical/types.ts'
import { countDevices } from '../../../passes/passes/registration-queries.ts'
import { type Html, html, trusted } from '../../../platform/html.ts'
import { linkIn, writeTable } from '../../engine/list-page.ts'
import { type ApiPage, type ListColumn, resource } from '../../engine/shapes.ts'
import { code, orDash, state, when, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'
import { promotes } from '../promotions/promotions.ts'
import { draftOf } from '../templates/draft.ts'
import { drawPasses } from '../templates/preview.ts'

type Template = components['schemas']['PassTemplate']
type Pass = components['schemas']['Pass']
type Scan = components['schemas']['Scan']

const FIELD_COLUMNS: readonly ListColumn<Template['fields'][number]>[] = [
  { title: 'Key', show: ({ key }) => code(key) },
  { title: 'Label', show: ({ label }) => orDash(label) },
  { title: 'Value', show: ({ value }) => orDash(value) },
]

const isActive = ({ status }: Template) => status === 'active'

export const PASS_TEMPLATES = resource<Template>({
  path: 'pass-templates',
  title: 'Pass templates',
  intro: 'What passes of one kind have in common: colours, texts, fields and the code.',
  list: {
    operation: 'listPassTemplates',
    columns: [
      { title: 'Name', show: ({ name }) => name },
      { title: 'Kind', show: ({ kind }) => words(kind) },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { kind: 'Kind', status: 'State' },
    empty: 'No template yet. Make one first: every pass is issued from a template.',
  },
  create: { operation: 'createPassTemplate', title: 'Make a template' },
  detail: {
    operation: 'getPassTemplate',
    parameter: 'template_id',
    name: ({ name }) => name,
    facts: ({ id, kind, status, brand, barcode, created, updated }) => [
      ['Identifier', code(id)],
      ['Kind', words(kind)],
      ['State', state(status)],
      ['Colours', `${brand.background_color} behind ${brand.foreground_color}`],
      ['Text beside the logo', orDash(brand.logo_text)],
      ['Code', words(barcode.format)],
      ['Created', when(created)],
      ['Changed', when(updated)],
    ],
    ways: [
      { operation: 'updatePassTemplate', text: 'Edit', to: ({ id }) => `pass-templates/${id}/edit` },
      {
        operation: 'createPass',
        text: 'Issue a pass',
        to: ({ id }) => `passes/new?template_id=${id}`,
        when: isActive,
      },
      {
        operation: 'createPassBatch',
        text: 'Issue from a file',
        to: ({ id }) => `passes/upload?template_id=${id}`,
        when: isActive,
      },
      promotes('pass_template'),
    ],
    actions: [
      {
        name: 'archive',
        operation: 'archivePassTemplate',
        button: 'Archive',
        warning: 'No pass is issued from it any more. Passes that are out stay as they are.',
        isDanger: true,
        when: isActive,
      },
    ],
    sections: [
      { title: 'Preview', write: (template, visit) => drawPasses(visit, draftOf(template)) },
      {
        title: 'Fields',
        write: ({ fields }, _visit, link) => writeTable('Fields', FIELD_COLUMNS, fields, link),
      },
      {
        title: 'Passes',
        write: ({ id }, _visit, link) =>
          html`<p>${link(`passes?template_id=${id}`, 'Passes of this template')}</p>`,
      },
    ],
  },
})

export const PASSES = resource<Pass>({
  path: 'passes',
  title: 'Passes',
  intro: 'What your customers have in their wallets.',
  list: {
    operation: 'listPasses',
    columns: [
      { title: 'Pass', show: ({ id }) => code(id) },
      { title: 'Holder', show: ({ holder }) => orDash(holder.name ?? holder.email) },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'State', template_id: 'Template' },
    empty: 'No pass yet. Make a template, issue a pass from it, and open its page on your telephone.',
  },
  create: { operation: 'createPass', title: 'Issue a pass' },
  detail: {
    operation: 'getPass',
    parameter: 'pass_id',
    name: ({ id }) => id,
    facts: (pass, link) => [
      ['Template', link.to(pass.template_id)],
      ['State', state(pass.status)],
      ['Holder', orDash(pass.holder.name)],
      ['E-mail', orDash(pass.holder.email)],
      [
        'Page for the holder',
        html`<a href="${pass.download.page_url}" rel="noreferrer">${pass.download.page_url}</a>`,
      ],
      ['Installed', when(pass.installed_at)],
      ['Expires', when(pass.expires_at)],
      ['Revoked', when(pass.revoked_at)],
      ['Created', when(pass.created)],
    ],
    actions: [
      {
        name: 'revoke',
        operation: 'revokePass',
        button: 'Revoke',
        warning: 'The pass is shown as no longer valid in its holder’s wallet. This cannot be undone.',
        isDanger: true,
        when: ({ status }) => status !== 'revoked' && status !== 'expired',
      },
    ],
    sections: [
      { title: 'On a telephone', write: writeCode },
      { title: 'Fields', write: ({ fields }) => facts(Object.entries(fields)) },
      { title: 'Devices', write: writeDevices },
      { title: 'Scans', write: writeScans },
    ],
  },
})

/** The page of the pass as a code: its holder's telephone reads it off the screen. */
async function writeCode({ download, status }: Pass, visit: DashboardVisit): Promise<Html> {
  if (status === 'revoked' || status === 'expired') return html`<p>The pass is no longer valid.</p>`
  const drawn = await visit.draw({ format: 'qr', message: download.page_url })
  return html`<p>Read this with the camera of a telephone: it opens the page of the pass, which adds it to a wallet.</p>
${drawn && html`<figure class="qr" role="img" aria-label="QR code of the page of the pass">${trusted(drawn.svg)}</figure>`}`
}

const PLATFORMS: Readonly<Record<string, string>> = { apple: 'Apple Wallet', google: 'Google Wallet' }

/** More are not counted. */
const MAX_DEVICES = 100

/** Apple's devices say each that they have a pass; Google says only whether anybody has it. */
async function writeDevices({ id, platforms, installed_at }: Pass, visit: DashboardVisit): Promise<Html> {
  if (platforms.length === 0)
    return html`<p class="empty">${installed_at === null ? 'In no wallet yet.' : 'In no wallet any more.'}</p>`
  const { db, space } = await visit.place()
  const devices = await countDevices(db, space, id, MAX_DEVICES)
  const known =
    devices === 1 ? ', on 1 device' : `, on ${devices}${devices === MAX_DEVICES ? ' or more' : ''} devices`
  return html`<ul class="plain">${platforms.map(
    (each) => html`<li>${PLATFORMS[each] ?? each}${each === 'apple' && devices > 0 && known}</li>`,
  )}</ul>`
}

const SCAN_COLUMNS: readonly ListColumn<Scan>[] = [
  { title: 'Time', show: ({ scanned_at }) => when(scanned_at) },
  { title: 'Result', show: ({ result }) => state(result) },
  { title: 'Mode', show: ({ mode }) => words(mode) },
  { title: 'Scanner', show: ({ scanner }) => orDash(scanner) },
  {
    title: 'Place',
    show: ({ location }) => (location === null ? '–' : `${location.latitude}, ${location.longitude}`),
  },
]

const SHOWN_SCANS = '10'

async function writeScans({ id }: Pass, visit: DashboardVisit): Promise<Html> {
  const query = { pass_id: id, limit: SHOWN_SCANS }
  const { data, has_more } = await visit.read<ApiPage<Scan>>('listScans', { query })
  if (data.length === 0) return html`<p class="empty">Nobody has scanned it yet.</p>`
  const link = linkIn(visit)
  return html`${writeTable('Scans', SCAN_COLUMNS, data, link)}${has_more && html`<p>${link(`scans?pass_id=${id}`, 'All scans')}</p>`}`
}

export const SCANS = resource<Scan>({
  path: 'scans',
  title: 'Scans',
  intro: 'Every reading of a pass, whatever came of it.',
  list: {
    operation: 'listScans',
    columns: [
      ...SCAN_COLUMNS,
      {
        title: 'Pass',
        show: ({ pass_id }, link) => link.to(pass_id),
      },
    ],
    filters: { result: 'Result', pass_id: 'Pass' },
    empty: 'No scan yet. Whatever your scanners read is shown here.',
  },
})
