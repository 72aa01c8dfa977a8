/** The dashboard, on the console's origin. Every page requires a signed-in member whose role permits it. */
import express, { type NextFunction, type Request, type Response, type Router } from 'express'
import type { Logger } from 'pino'
import { type DryRun, findOperation, type Operate, type OperationId } from '../../api/operate.ts'
import type { Barcodes } from '../../passes/wallets/pages/barcodes.ts'
import { clientAddress, type ProxyTrust, plainAddress } from '../../platform/client-address.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { actionOf, findAction, takesCode } from '../actions.ts'
import { isConfirmed } from '../confirmation.ts'
import { bulkRoutes } from '../engine/bulk.ts'
import { showDetail } from '../engine/detail-page.ts'
import { type Exports, exportRoutes } from '../engine/export.ts'
import { createFrame } from '../engine/frame.ts'
import { type DashboardRoute, routesOf } from '../engine/routes.ts'
import { inTimeZone } from '../engine/time-zone.ts'
import { viewRoutes } from '../engine/view-routes.ts'
import { ApiRefused, type DashboardVisit, mayAct, type VisitingMember } from '../engine/visit.ts'
import { answerFailures } from '../html/failures.ts'
import { createFormGuard, type FormGuard } from '../html/forms.ts'
import { sendPage, writeNotice } from '../html/layout.ts'
import { createToasts, type Toasts } from '../html/toasts.ts'
import { readUploads } from '../html/uploads.ts'
import { findChosenSandbox } from '../sign-in/chosen-sandbox.ts'
import { SEND_AGAIN_PATH } from '../sign-in/pages.ts'
import type { Sessions, SignedInMember } from '../sign-in/sessions.ts'
import { requireMember } from '../sign-in/sign-in.ts'
import { createSignInPage } from '../sign-in/sign-in-page.ts'
import { connectedAppRoutes } from '../team/connected-apps.ts'
import { memberRoutes } from '../team/members.ts'
import { keyRoutes } from './account/keys.ts'
import { preferenceRoutes } from './account/preferences.ts'
import { resetRoutes } from './account/reset.ts'
import { securityRoutes } from './account/security.ts'
import { sessionRoutes } from './account/sessions.ts'
import { usageRoutes } from './account/usage.ts'
import { versionRoutes } from './account/versions.ts'
import { docsRoutes } from './docs/routes.ts'
import { homeRoutes } from './home/home.ts'
import { FORM_PAGES, LINKED, MENU } from './menu.ts'
import { changeRoutes } from './passes/change.ts'
import { issueRoutes } from './passes/issue.ts'
import { uploadRoutes } from './passes/upload.ts'
import { lookupRoutes } from './pickers/lookup.ts'
import { promoteRoutes } from './promotions/promote.ts'
import { attemptRoutes } from './resources/attempts.ts'
import { auditRoutes } from './resources/audit-log.ts'
import { balanceRoutes } from './resources/balance.ts'
import { balanceAlertRoutes } from './resources/balance-alert.ts'
import { comparisonRoutes } from './resources/endpoint-comparison.ts'
import { PASSES } from './resources/passes.ts'
import { ledgerEntryRoutes } from './resources/postings.ts'
import { RESOURCES } from './resources/resources.ts'
import { sandboxRoutes } from './resources/sandboxes.ts'
import { settlementLineRoutes } from './resources/settlement-lines.ts'
import { recoveryRoutes } from './resources/webhook-recoveries.ts'
import { findNamed } from './search/name-queries.ts'
import { readAccountNames, readNames } from './search/names-of-ids.ts'
import { findById } from './search/places.ts'
import { searchRoutes } from './search/search.ts'
import { simulatorRoutes } from './simulator/pages.ts'
import { templateRoutes } from './templates/editor.ts'
import { testPassRoutes } from './templates/test-pass.ts'
import { sealTyped, showTyped, writeCodePage } from './typed-forms.ts'
import { eventVersionRoutes } from './watch/event-versions.ts'
import { liveRoutes } from './watch/live-lists.ts'
import { requestRoutes } from './watch/requests.ts'
import type { Tails } from './watch/tails.ts'
import { findPlace, type Watching } from './watch/watching.ts'

export interface DashboardParts extends Watching {
  readonly sessions: Pick<Sessions, 'find'>
  readonly operate: Operate
  readonly dryRun: DryRun
  readonly barcodes: Pick<Barcodes, 'draw'>
  readonly csrfKey: string
  /** Origin of the console. */
  readonly consoleUrl: string
  /** Base URLs of the API. */
  readonly apiUrls: Readonly<Record<Environment, string>>
  readonly proxies: ProxyTrust
  readonly log: Logger
}

const COOKIE_SECONDS = 7 * 86_400
/** A form has at most 20 limits, and lists of countries and merchant categories. */
const MAX_FIELDS = 3000

/** Returns all dashboard routes, each with the role that it requires. */
export function listRoutes(watching: Watching): readonly DashboardRoute[] {
  const send = createFrame(MENU, LINKED)
  const { operator } = watching
  const tails: Tails = new Map()
  const exports: Exports = new Set()
  const resources = Object.values(RESOURCES).flat()
  return [
    ...homeRoutes(send, tails),
    ...attemptRoutes(send),
    ...recoveryRoutes(),
    ...comparisonRoutes(send),
    ...sandboxRoutes(send),
    ...keyRoutes(send),
    ...versionRoutes(send),
    ...memberRoutes(send),
    ...connectedAppRoutes(send),
    ...securityRoutes(send),
    ...sessionRoutes(send),
    ...preferenceRoutes(send),
    ...usageRoutes(send, operator),
    ...templateRoutes(send),
    ...testPassRoutes(),
    ...issueRoutes(send),
    ...uploadRoutes(send),
    ...changeRoutes(send, (visit, id, fault) => showDetail(visit, PASSES, PASSES.detail!, id, send, fault)),
    ...balanceRoutes(send),
    ...balanceAlertRoutes(send),
    ...settlementLineRoutes(send, exports),
    ...ledgerEntryRoutes(send),
    ...simulatorRoutes(send),
    ...searchRoutes(send, { pages: [...MENU, ...LINKED], actions: FORM_PAGES }),
    ...viewRoutes(send),
    ...liveRoutes(resources, watching, tails),
    ...lookupRoutes(),
    ...exportRoutes(resources, exports),
    ...bulkRoutes(resources, send),
    ...auditRoutes(send),
    ...docsRoutes(watching),
    ...eventVersionRoutes(send, watching),
    ...resetRoutes(send),
    ...promoteRoutes(send),
    ...requestRoutes(send, watching, tails, exports),
    ...resources.flatMap((each) => routesOf(each, send)),
  ]
}

/** Returns the routes of the dashboard. Mount them at the console root. */
export function createDashboard(parts: DashboardParts): Router {
  const forms = createFormGuard({
    key: parts.csrfKey,
    cookie: 'svc_form',
    cookieSeconds: COOKIE_SECONDS,
    secure: parts.consoleUrl.startsWith('https:'),
  })
  const router = express.Router({ caseSensitive: true, strict: true })
  const form = express.urlencoded({ extended: false, limit: '256kb', parameterLimit: MAX_FIELDS })
  router.get('/', (_request, response) => response.redirect(302, `/${ENVIRONMENTS[0]}`))
  const toasts = createToasts(parts.csrfKey, parts.consoleUrl.startsWith('https:'))
  const routes = listRoutes(parts)
  const pages = new Set(routes.filter(({ method }) => method === 'GET').map(({ path }) => path))
  for (const route of routes) {
    const answer = (request: Request<{ id?: string }>, response: Response) =>
      visit({ ...parts, forms, toasts, pages }, route, request, response)
    if (route.method === 'GET') router.get(route.path, answer)
    else {
      // Throws at startup for a form that ACTIONS does not list.
      actionOf(route.path)
      router.post(route.path, form, ...(route.maxBytes ? readUploads(route.maxBytes) : []), answer)
    }
  }
  router.post(SEND_AGAIN_PATH, form, async (request, response) => {
    const member = await requireMember(parts.sessions, request, response)
    const { pepper, clock } = parts.operator
    if (member) showTyped({ forms, pepper, formName }, member, clock.machine(), request, response)
  })
  router.use(answerRefusals(parts), answerFailures(parts, 'a dashboard request failed'))
  return router
}

interface VisitParts extends DashboardParts {
  readonly forms: FormGuard
  readonly toasts: Toasts
  /** Paths of the GET routes. */
  readonly pages: ReadonlySet<string>
}

async function visit(
  parts: VisitParts,
  route: DashboardRoute,
  request: Request<{ id?: string }>,
  response: Response,
): Promise<void> {
  const { forms, pages } = parts
  const member = await parts.sessions.find(request)
  if (!member) return askToSignIn(parts, request, response, pageOf(route.path, request.path, pages))
  if (!mayAct(member.role, route.needs)) {
    const text = `This page requires the role ${route.needs}. Your role is ${member.role}. An owner of the account can change your role.`
    sendPage(response, 403, writeNotice('Access denied', text))
    return
  }
  if (route.method === 'POST' && !forms.isOwn(request, formName(member, request.path))) {
    const text =
      'The form has expired, or it was not sent from a dashboard page. Go back, reload the page, and submit the form again.'
    sendPage(response, 403, writeNotice('Form expired', text))
    return
  }
  const { tenantId } = member
  const sandbox =
    route.environment === 'sandbox'
      ? await findChosenSandbox(parts.databases.sandbox.forTenant(tenantId), tenantId, request)
      : undefined
  const visiting = { ...member, sandbox, sandboxId: sandbox?.id }
  await inTimeZone(member.timeZone, () => answerVisit(parts, route, request, response, visiting))
}

/** Handles the request. If the form requires a code, the code is checked before the handler runs or within its operation. */
async function answerVisit(
  parts: VisitParts,
  route: DashboardRoute,
  request: Request<{ id?: string }>,
  response: Response,
  member: VisitingMember,
): Promise<void> {
  const { id = '' } = request.params
  const action = findAction(route.path)
  const coded = action && takesCode(action, route.environment) ? action : undefined
  const ip = plainAddress(clientAddress(request, parts.proxies))
  const confirm = coded && (() => isConfirmed(parts, { ...member, ip }, coded, id, request))
  const made = createVisit(parts, route, { member, ip, confirm }, request, response)
  if (route.method === 'GET') return route.handle(made, id)
  if (await route.answerBefore?.(made, id)) return
  try {
    if (confirm && route.operation === undefined && !(await confirm())) throw new Unconfirmed()
    await route.handle(made, id)
  } catch (error) {
    if (!(error instanceof Unconfirmed)) throw error
    const page = pageOf(route.path, request.path, parts.pages)
    sendPage(response, 403, writeCodePage(request, page, made.guard(request.path)))
  }
}

/** The form requires a code, and the code is missing or wrong. */
class Unconfirmed extends Error {}

/** Returns the path of the page that contains a form: the path of the form, or its nearest ancestor with a GET route. */
function pageOf(route: string, path: string, pages: ReadonlySet<string>): string {
  const segments = route.split('/')
  while (segments.length > 1 && !pages.has(segments.join('/'))) segments.pop()
  return path.split('/').slice(0, segments.length).join('/') || '/'
}

/** Asks for sign-in. Afterwards a GET returns to its page, and a POST shows the submitted fields for review. */
async function askToSignIn(
  parts: DashboardParts,
  request: Request,
  response: Response,
  page: string,
): Promise<void> {
  const { operator, sessions } = parts
  if (request.method !== 'POST') return void (await requireMember(sessions, request, response))
  const { pepper, clock } = operator
  const typed = sealTyped(request, page, pepper, clock.machine())
  const lost = 'The text in the form is too long to keep during sign-in. Go back, copy it, and then sign in.'
  const told = `Your session has ended, and the form was not submitted. ${
    typed === 'too long' ? lost : typed === undefined ? '' : 'Sign in to review the form and submit it again.'
  }`
  createSignInPage({ ...parts, pepper, clock }).show(response, 401, {
    returnTo: page,
    told: told.trim(),
    typed: typed === 'too long' ? undefined : typed,
  })
}

/** A form is valid for one member and one path. */
function formName({ tenantId, memberId }: SignedInMember, path: string): string {
  return `${tenantId} ${memberId} ${path}`
}

interface PageSender {
  readonly member: VisitingMember
  readonly ip: string
  /** Checks the submitted code. Undefined if the form requires no code. */
  readonly confirm: (() => Promise<boolean>) | undefined
}

function createVisit(
  parts: VisitParts,
  route: DashboardRoute,
  { member, ip: address, confirm }: PageSender,
  request: Request,
  response: Response,
): DashboardVisit {
  const { operate, dryRun, operator, barcodes, sessions, consoleUrl, apiUrls, forms, toasts } = parts
  const { environment, operation } = route
  const account = { tenantId: member.tenantId, memberId: member.memberId, address }
  const acting = { ...account, sandboxId: member.sandboxId }
  // The default sandbox manages the others.
  const actorOf = (operationId: OperationId) =>
    findOperation(operationId).path.startsWith('/v1/sandboxes') ? account : acting
  return {
    member,
    environment,
    timeZone: member.timeZone ?? 'UTC',
    address,
    origin: new URL(consoleUrl).origin,
    apiUrl: apiUrls[environment],
    operator: { ...operator, member: { id: member.memberId, ip: address } },
    request,
    response,
    takesCode: confirm !== undefined,
    async operate(operationId, input) {
      const isConfirmable = confirm !== undefined && operationId === operation
      const answer = await operate(
        isConfirmable ? { ...actorOf(operationId), confirm } : actorOf(operationId),
        environment,
        operationId,
        input,
      )
      if (!answer.ok && answer.error.code === 'factor_required') throw new Unconfirmed()
      return answer
    },
    dryRun: (version, logged) => dryRun(acting, environment, version, logged),
    async read<Body>(
      operationId: OperationId,
      input?: Parameters<DashboardVisit['operate']>[1],
    ): Promise<Body> {
      const answer = await operate(actorOf(operationId), environment, operationId, input)
      if (answer.ok) return answer.body as Body
      throw new ApiRefused(answer.status, answer.error.message)
    },
    pageOf(id) {
      const found = findById(id)
      return found && (found.environment ?? environment) === environment ? found.path : undefined
    },
    async names(ids) {
      const { db, space } = await findPlace(parts, { member, environment })
      const found = await Promise.all([
        readNames(db, space, ids),
        readAccountNames(operator.control, member.tenantId, ids),
      ])
      return new Map(found.flatMap((each) => [...each]))
    },
    async findNamed(text) {
      const { db, space } = await findPlace(parts, { member, environment })
      return (await findNamed(db, space, text)).map(({ id }) => id)
    },
    place: () => findPlace(parts, { member, environment }),
    draw: (barcode) => barcodes.draw(member.tenantId, barcode),
    finish(path, done) {
      toasts.put(response, formName(member, ''), done)
      response.redirect(303, path)
    },
    takeDone: () => toasts.take(request, response, formName(member, '')),
    guard: (path) => forms.issue(response, formName(member, path), '/'),
    isSignedIn: async () => (await sessions.find(request))?.memberId === member.memberId,
  }
}

/** Shows the message of an `ApiRefused` error; other errors go to the next handler. */
function answerRefusals({ log }: DashboardParts) {
  return (error: unknown, _request: Request, response: Response, next: NextFunction): void => {
    if (!(error instanceof ApiRefused) || response.headersSent) return next(error)
    const title = error.status === 404 ? 'Not found' : 'Request failed'
    if (error.status >= 500) log.warn({ err: error }, 'a dashboard page cannot be shown')
    sendPage(response, error.status, writeNotice(title, error.message))
  }
}
