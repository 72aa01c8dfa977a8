import type { components } from '../../../../generated/canonical/types.ts'
import { countDevices } from '../../../passes/passes/registration-queries.ts'
import { type Html, html, trusted } from '../../../platform/html.ts'
import { linkIn } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type ApiPage, type ListColumn, resource } from '../../engine/shapes.ts'
import { code, orDash, state, when, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'
import { promotes } from '../promotions/promotions.ts'
import { BARCODE_FORMATS, draftOf } from '../templates/draft.ts'
import { drawPasses } from '../templates/preview.ts'

type Template = components['schemas']['PassTemplate']
type Pass = components['schemas']['Pass']
type Scan = components['schemas']['Scan']

const FIELD_COLUMNS: readonly ListColumn<Template['fields'][number]>[] = [
  { title: 'Key', show: ({ key }) => code(key) },
  { title: 'Label', show: ({ label }) => orDash(label) },
  { title: 'Value', show: ({ value }) => orDash(value) },
]

const barcodeLabel = (format: string) => BARCODE_FORMATS.find(([each]) => each === format)?.[1] ?? format

const isActive = ({ status }: Template) => status === 'active'

export const PASS_TEMPLATES = resource<Template>({
  path: 'pass-templates',
  title: 'Pass templates',
  intro: 'A pass template sets the colors, fields, and barcode of its passes.',
  list: {
    operation: 'listPassTemplates',
    columns: [
      { title: 'Name', show: ({ name }) => name },
      { title: 'Kind', show: ({ kind }) => words(kind) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { kind: 'Kind', status: 'Status' },
    empty: 'No pass templates yet. Create a template to issue passes from it.',
  },
  create: { operation: 'createPassTemplate', title: 'Create template' },
  detail: {
    operation: 'getPassTemplate',
    parameter: 'template_id',
    name: ({ name }) => name,
    facts: ({ id, kind, status, brand, barcode, created, updated }) => [
      ['ID', code(id)],
      ['Kind', words(kind)],
      ['Status', state(status)],
      ['Colors', `${brand.foreground_color} on ${brand.background_color}`],
      ['Logo text', orDash(brand.logo_text)],
      ['Barcode format', barcodeLabel(barcode.format)],
      ['Created', when(created)],
      ['Updated', when(updated)],
    ],
    ways: [
      { operation: 'updatePassTemplate', text: 'Edit template', to: ({ id }) => `pass-templates/${id}/edit` },
      {
        operation: 'createPass',
        text: 'Issue pass',
        to: ({ id }) => `passes/new?template_id=${id}`,
        when: isActive,
      },
      {
        operation: 'createPassBatch',
        text: 'Issue passes from a file',
        to: ({ id }) => `passes/upload?template_id=${id}`,
        when: isActive,
      },
      promotes('pass_template'),
    ],
    actions: [
      {
        name: 'archive',
        operation: 'archivePassTemplate',
        button: 'Archive template',
        warning: 'You can no longer issue passes from this template. Issued passes stay valid.',
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
          html`<p>${link(`passes?template_id=${id}`, 'View passes of this template')}</p>`,
      },
    ],
  },
})

export const PASSES = resource<Pass>({
  path: 'passes',
  title: 'Passes',
  intro: 'Wallet passes issued to your customers.',
  list: {
    operation: 'listPasses',
    columns: [
      { title: 'Pass', show: ({ id }) => code(id) },
      { title: 'Holder', show: ({ holder }) => orDash(holder.name ?? holder.email) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status', template_id: 'Template' },
    empty: 'No passes yet. Create a template, issue a pass from it, and open the pass on your phone.',
  },
  create: { operation: 'createPass', title: 'Issue pass' },
  detail: {
    operation: 'getPass',
    parameter: 'pass_id',
    name: ({ id }) => id,
    facts: (pass, link) => [
      ['Template', link.to(pass.template_id)],
      ['Status', state(pass.status)],
      ['Holder', orDash(pass.holder.name)],
      ['Email', orDash(pass.holder.email)],
      [
        'Download page',
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
        isBulk: true,
        operation: 'revokePass',
        button: 'Revoke pass',
        warning: 'The wallet of the holder shows the pass as no longer valid. You cannot undo this.',
        isDanger: true,
        when: ({ status }) => status !== 'revoked' && status !== 'expired',
      },
    ],
    sections: [
      { title: 'Add to a phone', write: writeCode },
      { title: 'Fields', write: ({ fields }) => facts(Object.entries(fields)) },
      { title: 'Devices', write: writeDevices },
      { title: 'Scans', write: writeScans },
    ],
  },
})

/** Shows the URL of the download page as a QR code, so that a phone can scan it from the screen. */
async function writeCode({ download, status }: Pass, visit: DashboardVisit): Promise<Html> {
  if (status === 'revoked' || status === 'expired') return html`<p>The pass is no longer valid.</p>`
  const drawn = await visit.draw({ format: 'qr', message: download.page_url })
  return html`<p>Scan this code with the camera of a phone. The page that opens adds the pass to a wallet.</p>
${drawn && html`<figure class="qr" role="img" aria-label="QR code with the URL of the download page">${trusted(drawn.svg)}</figure>`}`
}

const PLATFORMS: Readonly<Record<string, string>> = { apple: 'Apple Wallet', google: 'Google Wallet' }

/** Limits the count query; a pass on more devices shows “100 or more”. */
const MAX_DEVICES = 100

/** Apple registers each device, so devices are counted. Google reports only whether the pass is saved. */
async function writeDevices({ id, platforms, installed_at }: Pass, visit: DashboardVisit): Promise<Html> {
  if (platforms.length === 0)
    return html`<p class="empty">${installed_at === null ? 'Not in a wallet yet.' : 'Removed from all wallets.'}</p>`
  const { db, space } = await visit.place()
  const devices = await countDevices(db, space, id, MAX_DEVICES)
  const known =
    devices === 1 ? ', on 1 device' : `, on ${devices}${devices === MAX_DEVICES ? ' or more' : ''} devices`
  return html`<ul class="plain">${platforms.map(
    (each) => html`<li>${PLATFORMS[each] ?? each}${each === 'apple' && devices > 0 && known}</li>`,
  )}</ul>`
}

const SCAN_COLUMNS: readonly ListColumn<Scan>[] = [
  { title: 'Scanned', show: ({ scanned_at }) => when(scanned_at) },
  { title: 'Result', show: ({ result }) => state(result) },
  { title: 'Mode', show: ({ mode }) => words(mode) },
  { title: 'Scanner', show: ({ scanner }) => orDash(scanner) },
  {
    title: 'Location',
    show: ({ location }) => (location === null ? '–' : `${location.latitude}, ${location.longitude}`),
  },
]

const SHOWN_SCANS = '10'

async function writeScans({ id }: Pass, visit: DashboardVisit): Promise<Html> {
  const query = { pass_id: id, limit: SHOWN_SCANS }
  const { data, has_more } = await visit.read<ApiPage<Scan>>('listScans', { query })
  if (data.length === 0) return html`<p class="empty">No scans of this pass yet.</p>`
  const link = linkIn(visit)
  return html`${writeTable('Scans', SCAN_COLUMNS, data, link)}${has_more && html`<p>${link(`scans?pass_id=${id}`, 'View all scans')}</p>`}`
}

export const SCANS = resource<Scan>({
  path: 'scans',
  title: 'Scans',
  intro: 'Every scan of a pass, with its result.',
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
    empty: 'No scans yet. Passes that your scanners read appear here.',
  },
})
