/** The guided start of a new account: the way from an API key to the first card use in the sandbox. */
import type { Database, Statement } from '../../../database/database.ts'
import { type Html, html } from '../../../platform/html.ts'
import { type DashboardVisit, mayAct, type VisitRole } from '../../engine/visit.ts'
import { icon } from '../../html/icons.ts'
import { PROMOTE_PATH } from '../promotions/promote.ts'
import { SIMULATOR_PATH } from '../simulator/pages.ts'

const has = (table: string, condition = '') =>
  `EXISTS (SELECT FROM ${table} r WHERE r.tenant_id = $1 ${condition})`

const READ: Statement = {
  name: 'home_guide',
  text: `SELECT ${has('webhook_endpoints')} AS endpoint, ${has('pass_templates')} AS template,
                ${has('events', `AND r.type = 'pass.installed'`)} AS pass, ${has('cardholders')} AS cardholder,
                ${has('cards')} AS card, ${has('card_transactions')} AS authorization`,
}

const READ_KEY: Statement = {
  text: `SELECT EXISTS (SELECT FROM control.keys k WHERE k.tenant_id = $1 AND k.environment = 'sandbox' AND k.revoked_at IS NULL) AS key`,
}

const READ_PROMOTION: Statement = {
  text: 'SELECT EXISTS (SELECT FROM live.promotions p WHERE p.tenant_id = $1 AND NOT p.dry_run) AS promotion',
}

/** Whether each step of the guide is done. */
export type GuideProgress = Readonly<
  Record<
    'key' | 'endpoint' | 'template' | 'pass' | 'cardholder' | 'card' | 'authorization' | 'promotion',
    boolean
  >
>

/** @param control connection of the owner. @param db of the sandbox. */
export async function readGuide(
  control: Database,
  db: Database,
  tenantId: string,
  space: string,
): Promise<GuideProgress> {
  const answers = await Promise.all([
    db.query<GuideProgress>(READ, [space]),
    control.query<GuideProgress>(READ_KEY, [tenantId]),
    control.query<GuideProgress>(READ_PROMOTION, [tenantId]),
  ])
  return Object.assign({}, ...answers.map(({ rows }) => rows[0]))
}

interface GuideStep {
  readonly name: keyof GuideProgress
  readonly title: string
  readonly text: string
  readonly path: string
  readonly button: string
  readonly needs: VisitRole
}

const STEPS: readonly GuideStep[] = [
  {
    name: 'key',
    title: 'Create an API key',
    text: 'Your server signs in to the API with it.',
    path: 'keys',
    button: 'Create key',
    needs: 'owner',
  },
  {
    name: 'endpoint',
    title: 'Add a webhook endpoint',
    text: 'Your server is notified when something happens.',
    path: 'webhook-endpoints/new',
    button: 'Add endpoint',
    needs: 'developer',
  },
  {
    name: 'template',
    title: 'Design a pass template',
    text: 'It sets the look of your passes in Apple Wallet and Google Wallet.',
    path: 'pass-templates/new',
    button: 'Create template',
    needs: 'developer',
  },
  {
    name: 'pass',
    title: 'Install a pass on your phone',
    text: 'Issue a pass, and then open its page on the phone.',
    path: 'passes/new',
    button: 'Issue pass',
    needs: 'developer',
  },
  {
    name: 'cardholder',
    title: 'Create a cardholder',
    text: 'Each card belongs to a person or a company.',
    path: 'cardholders/new',
    button: 'Create cardholder',
    needs: 'developer',
  },
  {
    name: 'card',
    title: 'Issue a card',
    text: 'A virtual card can be used immediately.',
    path: 'cards/new',
    button: 'Issue card',
    needs: 'developer',
  },
  {
    name: 'authorization',
    title: 'Simulate a purchase',
    text: 'Fund the balance, and then see how your rules decide an authorization.',
    path: SIMULATOR_PATH,
    button: 'Open simulator',
    needs: 'developer',
  },
  {
    name: 'promotion',
    title: 'Promote to live',
    text: 'Copy your templates, card programs, and endpoints to the live environment.',
    path: PROMOTE_PATH,
    button: 'Promote',
    needs: 'owner',
  },
]

/** Writes the steps with the progress. The guide is closed when half of them are done. */
export function writeGuide({ environment, member }: DashboardVisit, progress: GuideProgress): Html {
  const done = STEPS.filter(({ name }) => progress[name]).length
  const next = STEPS.find(({ name }) => !progress[name])
  return html`<details class="panel guide"${done * 2 < STEPS.length && html` open`}><summary>${next ? 'Get started' : 'Setup complete'} <span class="quiet">${String(done)} of ${String(STEPS.length)} steps done</span>${icon('chevron-right')}</summary>
<p><progress aria-label="Steps done" value="${String(done)}" max="${String(STEPS.length)}"></progress></p>
<ol>${STEPS.map(
    ({ name, title, text, path, button, needs }) =>
      html`<li${progress[name] && html` class="good"`}>${icon(progress[name] ? 'circle-check' : 'circle-dashed')}<div><p class="what">${title}${progress[name] && html`<span class="visually-hidden"> (done)</span>`}</p>${!progress[name] && html`<p class="quiet">${text}</p>`}</div>${
        !progress[name] &&
        mayAct(member.role, needs) &&
        html`<a class="button${name !== next?.name && ' second'}" href="/${environment}/${path}">${button}</a>`
      }</li>\n`,
  )}</ol></details>`
}
