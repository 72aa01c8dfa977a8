import type { components } from '../../../../generated/canonical/types.ts'
import { countDevices } from '../../../passes/passes/registration-queries.ts'
import { type Html, html, trusted } from '../../../platform/html.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type DetailPage, type ListColumn, resource } from '../../engine/shapes.ts'
import { code, orDash, state, when, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { writeHistory } from '../passes/history.ts'
import {
  drawPass,
  holderOf,
  isUsable,
  PASSES_PATH,
  type PassObject,
  templateOf,
  WALLETS,
} from '../passes/pass.ts'
import { writeValues } from '../passes/values.ts'
import { PASS as PICKED_PASS, TEMPLATE } from '../pickers/pickable.ts'
import { promotes } from '../promotions/promotions.ts'
import { writeCounts } from '../templates/counts.ts'
import { BARCODE_FORMATS, draftOf } from '../templates/draft.ts'
import { drawPasses, showWarnings } from '../templates/preview.ts'
import { writeTestPass } from '../templates/test-pass.ts'
import { MESSAGE_FIELDS, writeMessages } from './pass-messages.ts'

type Template = components['schemas']['PassTemplate']
type Scan = components['schemas']['Scan']

const FIELD_COLUMNS: readonly ListColumn<Template['fields'][number]>[] = [
  { title: 'Label', show: ({ label }) => orDash(label) },
  { title: 'Value', show: ({ value }) => orDash(value) },
  { title: 'Key', show: ({ key }) => code(key) },
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
    status: ({ status }) => status,
    picture: (template, visit) => drawPasses(visit, draftOf(template)),
    facts: ({ id, kind, brand, barcode, relevant_locations, warnings = [], created, updated }) => [
      ['Kind', words(kind)],
      ['Colors', `${brand.foreground_color} on ${brand.background_color}`],
      ['Barcode', barcodeLabel(barcode.format)],
      ['Barcode content', barcode.message ?? 'Unique for each pass'],
      ['Locations', String(relevant_locations.length)],
      ...(warnings.length > 0 ? [['Wallets do not show', showWarnings(warnings)] as const] : []),
      ['Created', when(created)],
      ['Updated', when(updated)],
      ['ID', code(id)],
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
      { title: 'Passes', write: writeCounts },
      { title: 'Test on a phone', write: writeTestPass },
      {
        title: 'Fields',
        write: ({ fields }, _visit, link) => writeTable('Fields', FIELD_COLUMNS, fields, link),
      },
    ],
  },
})

const PASS: DetailPage<PassObject> = {
  operation: 'getPass',
  parameter: 'pass_id',
  name: holderOf,
  trail: ({ template_id }, link) => html`${link('passes', 'Passes')} / ${link.to(template_id)}`,
  status: ({ status }) => status,
  picture: async (pass, visit) => drawPass(visit, await templateOf(visit, pass), pass),
  facts: (pass, link) => [
    ['Template', link.to(pass.template_id)],
    ['Holder', orDash(pass.holder.name)],
    ['Email', orDash(pass.holder.email)],
    ['Expires', pass.expires_at === null ? 'Never' : when(pass.expires_at)],
    ['Issued', when(pass.created)],
    ...Object.entries(pass.metadata),
    ['ID', code(pass.id)],
  ],
  ways: [
    { operation: 'updatePass', text: 'Change pass', to: ({ id }) => `passes/${id}/change`, when: isUsable },
  ],
  actions: [
    {
      name: 'message',
      operation: 'createPassMessage',
      button: 'Send message',
      warning: 'Wallets show the message on the pass, and notify the holder.',
      fields: MESSAGE_FIELDS,
      when: isUsable,
    },
    {
      name: 'revoke',
      isBulk: true,
      operation: 'revokePass',
      button: 'Revoke pass',
      warning: 'The wallet of the holder shows the pass as no longer valid. You cannot undo this.',
      isDanger: true,
      when: isUsable,
    },
    {
      name: 'archive',
      operation: 'archivePass',
      button: 'Archive pass',
      when: (pass) => !isUsable(pass) && pass.archived_at === null,
    },
  ],
  sections: [
    { title: 'Values', write: writeValues },
    { title: 'Wallets', write: writeWallets },
    { title: 'Messages', write: writeMessages },
    { title: 'Timeline', write: writeHistory },
  ],
}

export const PASSES = resource<PassObject>({
  path: PASSES_PATH,
  title: 'Passes',
  intro: 'Wallet passes issued to your customers.',
  list: {
    operation: 'listPasses',
    columns: [
      { title: 'Holder', show: holderOf },
      { title: 'Template', show: ({ template_id }, link) => link.to(template_id) },
      { title: 'Status', show: ({ status }) => state(status) },
      {
        title: 'In wallets',
        show: ({ platforms }) => orDash(platforms.map((each) => WALLETS[each] ?? each).join(', ')),
      },
      { title: 'Issued', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status', template_id: { label: 'Template', pick: TEMPLATE } },
    empty: 'No passes yet. Create a template, issue a pass from it, and open the pass on your phone.',
    above: ({ environment }) => html`<p><a href="/${environment}/pass-messages">View messages</a></p>`,
  },
  create: { operation: 'createPass', title: 'Issue pass' },
  detail: PASS,
})

/** Shows which wallets have the pass, and the URL of the download page as a QR code that a phone can scan from the screen. */
async function writeWallets(pass: PassObject, visit: DashboardVisit): Promise<Html> {
  const { page_url } = pass.download
  const drawn = isUsable(pass) ? await visit.draw({ format: 'qr', message: page_url }) : undefined
  return html`<div class="wallet-state" id="wallets"><div>${await writeDevices(pass, visit)}
${
  isUsable(pass)
    ? html`<p>To add the pass to a wallet, scan this code with the camera of a phone, or send the <a href="${page_url}" rel="noreferrer">download page</a> to the holder.</p>`
    : html`<p>The pass is no longer valid. Wallets show it as void.</p>`
}</div>
${drawn && html`<figure class="qr" role="img" aria-label="QR code with the URL of the download page">${trusted(drawn.svg)}</figure>`}</div>`
}

/** Limits the count query; a pass on more devices shows “100 or more”. */
const MAX_DEVICES = 100

/** Apple registers each device, so devices are counted. Google reports only whether the pass is saved. */
async function writeDevices(
  { id, platforms, installed_at }: PassObject,
  visit: DashboardVisit,
): Promise<Html> {
  if (platforms.length === 0)
    return html`<p>${installed_at === null ? 'Not in a wallet yet.' : 'Removed from all wallets.'}</p>`
  const { db, space } = await visit.place()
  const devices = await countDevices(db, space, id, MAX_DEVICES)
  const known =
    devices === 1 ? ', on 1 device' : `, on ${devices}${devices === MAX_DEVICES ? ' or more' : ''} devices`
  return html`<ul class="plain">${platforms.map(
    (each) => html`<li>${WALLETS[each] ?? each}${each === 'apple' && devices > 0 && known}</li>`,
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
    filters: { result: 'Result', pass_id: { label: 'Pass', pick: PICKED_PASS } },
    empty: 'No scans yet. Passes that your scanners read appear here.',
  },
})
