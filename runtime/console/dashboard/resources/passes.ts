import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { PASS_KINDS } from '../../../wallet/pass-state.ts'
import { resource } from '../shape/shapes.ts'
import { code, json, orDash, state, when, words } from '../shape/values.ts'

type Template = components['schemas']['PassTemplate']
type Pass = components['schemas']['Pass']

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
    filters: [
      { name: 'kind', label: 'Kind', options: PASS_KINDS },
      { name: 'status', label: 'State', options: ['active', 'archived'] },
    ],
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
    ways: [{ operation: 'updatePassTemplate', text: 'Edit', to: ({ id }) => `pass-templates/${id}/edit` }],
    actions: [
      {
        name: 'archive',
        operation: 'archivePassTemplate',
        button: 'Archive',
        warning: 'No pass is issued from it any more. Passes that are out stay as they are.',
        isDanger: true,
        when: ({ status }) => status === 'active',
      },
    ],
    sections: [
      { title: 'Fields', write: ({ fields }) => json(fields) },
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
    filters: [
      {
        name: 'status',
        label: 'State',
        options: ['issued', 'installed', 'active', 'redeemed', 'revoked', 'expired'],
      },
      { name: 'template_id', label: 'Template' },
    ],
    empty: 'No pass yet. Make a template, issue a pass from it, and open its page on your telephone.',
  },
  create: {
    operation: 'createPass',
    title: 'Issue a pass',
    button: 'Issue',
    fields: [
      { name: 'template_id', label: 'Template', hint: 'Its identifier; it begins with tpl_.' },
      { name: 'name', label: 'Name of the holder', optional: true },
      { name: 'email', label: 'E-mail of the holder', optional: true },
    ],
    body: ({ template_id, name, email }) => ({
      template_id,
      ...((name || email) && { holder: { ...(name && { name }), ...(email && { email }) } }),
    }),
  },
  detail: {
    operation: 'getPass',
    parameter: 'pass_id',
    name: ({ id }) => id,
    facts: (pass, link) => [
      ['Template', link(`pass-templates/${pass.template_id}`, code(pass.template_id))],
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
    sections: [{ title: 'Fields', write: ({ fields }) => json(fields) }],
  },
})
