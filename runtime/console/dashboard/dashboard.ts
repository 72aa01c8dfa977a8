/** The dashboard on the console's origin: for members who have signed in, in what their role lets them do. */
import express, { type Request, type Response, type Router } from 'express'
import type { Logger } from 'pino'
import type { Operator } from '../../admin/change.ts'
import type { Operate } from '../../api/operate.ts'
import { clientAddress, type ProxyTrust, plainAddress } from '../../platform/client-address.ts'
import { isUnavailable } from '../../platform/database/errors.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { createFormGuard, type FormGuard } from '../page/forms.ts'
import { sendPage, writeNotice } from '../page/layout.ts'
import { keyRoutes } from './account/keys.ts'
import { usageRoutes } from './account/usage.ts'
import { versionRoutes } from './account/versions.ts'
import { homeRoutes } from './home.ts'
import { attemptRoutes } from './resources/attempts.ts'
import { RESOURCES } from './resources/resources.ts'
import { createFrame, type Menu } from './shape/frame.ts'
import { type Route, routesOf } from './shape/routes.ts'
import { type Member, mayAct, Refused, roleFor, type Visit } from './shape/visit.ts'

/** Who has signed in. */
export interface MemberSessions {
  find(request: Request): Promise<Member | undefined>
}

export interface DashboardParts {
  readonly sessions: MemberSessions
  readonly operate: Operate
  readonly operator: Operator
  /** Key of the forms' MAC. */
  readonly csrfKey: string
  /** Origin of the console. */
  readonly consoleUrl: string
  readonly proxies: ProxyTrust
  readonly log: Logger
}

const COOKIE_SECONDS = 7 * 86_400

const MENU: Menu = [
  { group: '', title: 'Home', path: '', needs: 'viewer' },
  ...RESOURCES.flatMap(({ group, resources }) =>
    resources.map(({ title, path, list }) => ({ group, title, path, needs: roleFor(list.operation) })),
  ),
  { group: 'Developers', title: 'Keys', path: 'keys', needs: 'developer' },
  { group: 'Developers', title: 'API version', path: 'version', needs: 'viewer' },
  { group: 'Account', title: 'Usage', path: 'usage', needs: 'viewer' },
]

/** The table of what is there, and who may. */
export function listRoutes(operator: Operator): readonly Route[] {
  const send = createFrame(MENU)
  return [
    ...homeRoutes(send),
    ...attemptRoutes(send),
    ...keyRoutes(send, operator),
    ...versionRoutes(send, operator),
    ...usageRoutes(send, operator),
    ...RESOURCES.flatMap(({ resources }) => resources.flatMap((each) => routesOf(each, send))),
  ]
}

/** @returns the routes of the dashboard, to be mounted at the console's root. */
export function createDashboard(parts: DashboardParts): Router {
  const forms = createFormGuard({
    key: parts.csrfKey,
    cookie: 'svc_form',
    cookieSeconds: COOKIE_SECONDS,
    secure: parts.consoleUrl.startsWith('https:'),
  })
  const router = express.Router({ caseSensitive: true, strict: true })
  const form = express.urlencoded({ extended: false, limit: '256kb', parameterLimit: 50 })
  router.get('/', (_request, response) => response.redirect(302, `/${ENVIRONMENTS[0]}`))
  for (const route of listRoutes(parts.operator)) {
    const answer = (request: Request<{ id?: string }>, response: Response) =>
      visit(parts, forms, route, request, response)
    if (route.method === 'GET') router.get(route.path, answer)
    else router.post(route.path, form, answer)
  }
  router.use((error: unknown, _request: Request, response: Response, _next: (error: unknown) => void) =>
    sendFailure(parts, error, response),
  )
  return router
}

async function visit(
  parts: DashboardParts,
  forms: FormGuard,
  route: Route,
  request: Request<{ id?: string }>,
  response: Response,
): Promise<void> {
  const member = await parts.sessions.find(request)
  if (!member) {
    const to = route.method === 'GET' ? request.originalUrl : `/${route.environment}`
    response.redirect(303, `/sign-in?return_to=${encodeURIComponent(to)}`)
    return
  }
  if (!mayAct(member.role, route.needs)) {
    const text = `This takes the role ${route.needs}; yours is ${member.role}. An owner of the account can change that.`
    sendPage(response, 403, writeNotice('Not for your role', text))
    return
  }
  if (route.method === 'POST' && !forms.isOwn(request, formName(member, request.path))) {
    const text =
      'The form was not sent by a page of this dashboard, or that page was too old. Go back, load it again and send it once more.'
    sendPage(response, 403, writeNotice('Not sent', text))
    return
  }
  await route.handle(createVisit(parts, forms, route, request, response, member), request.params.id ?? '')
}

/** A form is good for one member and one address. */
function formName({ tenantId, memberId }: Member, path: string): string {
  return `${tenantId} ${memberId} ${path}`
}

function createVisit(
  { operate, proxies }: DashboardParts,
  forms: FormGuard,
  { environment }: Route,
  request: Request,
  response: Response,
  member: Member,
): Visit {
  const address = plainAddress(clientAddress(request, proxies))
  const acting = { tenantId: member.tenantId, memberId: member.memberId, address }
  return {
    member,
    environment,
    address,
    request,
    response,
    operate: (operationId, input) => operate(acting, environment, operationId, input),
    async read<Body>(operationId: string, input?: Parameters<Visit['operate']>[1]): Promise<Body> {
      const answer = await operate(acting, environment, operationId, input)
      if (answer.ok) return answer.body as Body
      throw new Refused(answer.status, answer.error.message)
    },
    guard: (path) => forms.issue(response, formName(member, path), '/'),
  }
}

/** What was wrong stands in the log alone. */
function sendFailure({ log }: DashboardParts, error: unknown, response: Response): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  if (error instanceof Refused && error.status < 500) {
    sendPage(
      response,
      error.status,
      writeNotice(error.status === 404 ? 'Not found' : 'Not possible', error.message),
    )
  } else if (error instanceof Refused || isUnavailable(error)) {
    log.warn({ err: error }, 'a page of the dashboard cannot be shown')
    response.set('Retry-After', '1')
    sendPage(
      response,
      503,
      writeNotice('Not now', 'The service cannot answer at the moment. Please try again.'),
    )
  } else if (isRefusedBody(error)) {
    sendPage(response, error.status, writeNotice('Not readable', 'The form did not arrive as it was sent.'))
  } else {
    log.error({ err: error }, 'a page of the dashboard failed')
    sendPage(response, 500, writeNotice('Something went wrong', 'It was on our side. Please try again.'))
  }
}

/** Express could not read the path or the form. */
function isRefusedBody(error: unknown): error is { readonly status: number } {
  if (typeof error !== 'object' || error === null || !('status' in error)) return false
  return typeof error.status === 'number' && error.status >= 400 && error.status < 500
}
