/** Changes a pass: a form next to the pass as wallets will show it, steps of single values, and scans. */
import type { ErrorBody } from '../../../api/errors/errors.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { describe, KEY } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { ApiRefused, type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { formField } from '../../html/forms.ts'
import { changedPaths, type DraftContent, patchBody, readDigest } from '../templates/draft.ts'
import { MAX_FORM_BYTES } from './issue.ts'
import { holderOf, isUsable, PASSES_PATH, type PassObject, templateOf } from './pass.ts'
import { BEGAN, type PassForm, readInputs, writePassForm } from './pass-form.ts'
import { step } from './steps.ts'
import { labelOf } from './values.ts'

/** Shows the page of a pass with an error message. */
type ShowFault = (visit: DashboardVisit, id: string, fault: string) => Promise<void>

/** Routes below the page of a pass. */
export function changeRoutes(send: SendFramed, refuse: ShowFault): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment): DashboardRoute[] => {
    const page = `/${environment}/${PASSES_PATH}/:id`
    const updates = { environment, needs: roleFor('updatePass') }
    return [
      {
        ...updates,
        path: `${page}/change`,
        method: 'GET',
        handle: async (visit, id) => {
          const pass = await readPass(visit, id)
          const content = contentOf(pass)
          return show(send, visit, { pass, began: content, typed: content })
        },
      },
      {
        ...updates,
        path: `${page}/change`,
        method: 'POST',
        maxBytes: MAX_FORM_BYTES,
        handle: (visit, id) => change(send, visit, id),
      },
      {
        ...updates,
        path: `${page}/step`,
        method: 'POST',
        handle: (visit, id) => takeStep(refuse, visit, id),
      },
      {
        environment,
        needs: roleFor('createScan'),
        path: `${page}/scan`,
        method: 'POST',
        handle: (visit, id) => scan(refuse, visit, id),
      },
    ]
  })
}

function readPass(visit: DashboardVisit, pass_id: string): Promise<PassObject> {
  return visit.read<PassObject>('getPass', { path: { pass_id } })
}

/** Returns what a member can change, by path in the request body. Null means no value. */
function contentOf({ holder, fields, expires_at }: PassObject): DraftContent {
  return {
    'holder.name': holder.name,
    'holder.email': holder.email,
    ...Object.fromEntries(Object.entries(fields).map(([key, value]) => [`fields.${key}`, value || null])),
    expires_at: expires_at && `${expires_at.slice(0, 19)}Z`,
  }
}

async function change(send: SendFramed, visit: DashboardVisit, id: string): Promise<void> {
  const pass = await readPass(visit, id)
  const typed = readInputs(visit, await templateOf(visit, pass))
  const began = readDigest(formField(visit.request, BEGAN))
  if (!began)
    throw new ApiRefused(422, 'The form is incomplete. Reload the page and enter your changes again.')
  if (formField(visit.request, 'do') !== '') return show(send, visit, { pass, began, typed })
  const now = contentOf(pass)
  const own = changedPaths(began, typed)
  const taken = own.filter((path) => now[path] !== typed[path] && changedPaths(began, now).includes(path))
  if (taken.length > 0) {
    const mine = Object.fromEntries(own.map((path) => [path, typed[path]]))
    return show(send, visit, { pass, began: now, typed: { ...now, ...mine }, taken }, 409)
  }
  if (own.length > 0) {
    const answer = await visit.operate('updatePass', { path: { pass_id: id }, body: patchBody(began, typed) })
    if (!answer.ok) return show(send, visit, { pass, began, typed, error: answer.error }, 422)
  }
  visit.finish(`/${visit.environment}/${PASSES_PATH}/${id}`, 'Pass saved')
}

async function show(
  send: SendFramed,
  visit: DashboardVisit,
  form: Omit<PassForm, 'template'> & { readonly error?: ErrorBody },
  status = 200,
): Promise<void> {
  const { pass } = form
  if (!isUsable(pass)) throw new ApiRefused(409, `The pass is ${pass.status}. It can no longer be changed.`)
  const template = await templateOf(visit, pass)
  send(visit, status, {
    title: `Change pass: ${holderOf(pass)}`,
    path: PASSES_PATH,
    scripts: ['template-preview.js'],
    content: await writePassForm(visit, { ...form, template }),
  })
}

async function takeStep(refuse: ShowFault, visit: DashboardVisit, id: string): Promise<void> {
  const { request } = visit
  const pass = await readPass(visit, id)
  const { fields } = await templateOf(visit, pass)
  const field = fields.find(({ key }) => key === formField(request, 'key'))
  if (!field) return refuse(visit, id, 'The template no longer has this field.')
  const from = formField(request, 'from')
  const label = labelOf(field)
  if (pass.fields[field.key] !== from)
    return refuse(visit, id, `${label} changed since you opened the page. Check the value and try again.`)
  const by = formField(request, 'by').trim()
  const to = step(from, formField(request, 'do') === 'subtract' ? `-${by}` : by)
  if (to === undefined)
    return refuse(visit, id, `Enter a step such as 1 or 2.50. ${label} is ${from} and cannot go below 0.`)
  const body = { fields: { [field.key]: to } }
  const answer = await visit.operate('updatePass', { path: { pass_id: id }, body })
  if (!answer.ok) return refuse(visit, id, describe(answer.error))
  visit.finish(`/${visit.environment}/${PASSES_PATH}/${id}`, `${label}: ${to}`)
}

const REFUSALS: Readonly<Record<string, string>> = {
  already_redeemed: 'The pass is already redeemed.',
  not_redeemable: 'Passes of this kind cannot be redeemed.',
  expired: 'The pass is expired.',
  revoked: 'The pass is revoked.',
}

async function scan(refuse: ShowFault, visit: DashboardVisit, id: string): Promise<void> {
  const mode = formField(visit.request, 'mode')
  const answer = await visit.operate('createScan', {
    body: { pass_id: id, mode, scanner: 'Dashboard' },
    idempotencyKey: formField(visit.request, KEY),
  })
  if (!answer.ok) return refuse(visit, id, describe(answer.error))
  const refusal = REFUSALS[(answer.body as { readonly result: string }).result]
  if (refusal !== undefined) return refuse(visit, id, refusal)
  visit.finish(
    `/${visit.environment}/${PASSES_PATH}/${id}`,
    mode === 'redeem' ? 'Pass redeemed' : 'Holder checked in',
  )
}
