/** The route `/invitations/…`. Anyone with the link can join the account once. */
import express, { type Request, type Response, type Router } from 'express'
import { Secret } from 'otpauth'
import { acceptInvitation, type OpenInvitation, openInvitation } from '../../account/members/invitations.ts'
import type { Barcodes } from '../../passes/wallets/pages/barcodes.ts'
import { clientAddress, type ProxyTrust, plainAddress } from '../../platform/client-address.ts'
import { seal, UnsealError, unseal } from '../../platform/secrets.ts'
import { ControlError, type Operator } from '../../tenants/admin/change.ts'
import { stepOfCode } from '../../tenants/factors/factors.ts'
import { answerFailures, type FailureParts } from '../html/failures.ts'
import { createFormGuard, type FormGuard, formField } from '../html/forms.ts'
import { refuseMethod, sendPage, writeNotice } from '../html/layout.ts'
import { faultOfPassword } from '../sign-in/passwords.ts'
import type { Sessions } from '../sign-in/sessions.ts'
import { type JoinForm, writeJoin, writeKeyUri } from './invitation-page.ts'

export interface JoinParts extends FailureParts {
  readonly operator: Operator
  readonly sessions: Pick<Sessions, 'begin'>
  readonly barcodes: Pick<Barcodes, 'draw'>
  readonly csrfKey: string
  /** Origin of the console. */
  readonly consoleUrl: string
  readonly proxies: ProxyTrust
}

interface Parts extends JoinParts {
  readonly forms: FormGuard
}

type JoinRequest = Request<{ link: string }>

const FORM_SECONDS = 3600

/** 160 bits, as RFC 4226, section 4, recommends. */
const TOTP_BYTES = 20

/** Returns the routes below `/invitations`. Mount them at the console root. */
export function createJoin(given: JoinParts): Router {
  const forms = createFormGuard({
    key: given.csrfKey,
    cookie: 'svc_join',
    cookieSeconds: FORM_SECONDS,
    secure: given.consoleUrl.startsWith('https:'),
  })
  const parts: Parts = { ...given, forms }
  const router = express.Router({ caseSensitive: true, strict: true })
  const form = express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 10 })
  router
    .route('/invitations/:link')
    .get(async (request: JoinRequest, response: Response) => {
      const invitation = await openOrRefuse(parts, request, response)
      if (invitation) await sendForm(parts, response, invitation, 200, newTotp())
    })
    .post(form, (request: JoinRequest, response: Response) => join(parts, request, response))
    .all(refuseMethod)
  router.use('/invitations', answerFailures(given, 'an invitation request failed'))
  return router
}

const newTotp = () => new Secret({ size: TOTP_BYTES }).base32

async function join(parts: Parts, request: JoinRequest, response: Response): Promise<void> {
  const { operator, forms, sessions, proxies } = parts
  const invitation = await openOrRefuse(parts, request, response)
  if (!invitation) return
  const totp = readTotp(operator, invitation, formField(request, 'totp'))
  if (totp === undefined || !forms.isOwn(request, invitation.id)) {
    const faults = { form: 'The form has expired. Scan the new QR code and fill in the form again.' }
    return sendForm(parts, response, invitation, 403, newTotp(), faults)
  }
  const password = formField(request, 'password')
  const code = formField(request, 'code').replaceAll(/\s/g, '')
  const passwordFault = faultOfPassword(password, invitation.email)
  const step = stepOfCode(totp, code, operator.clock.machine())
  if (passwordFault !== undefined || step === undefined) {
    return sendForm(parts, response, invitation, 422, totp, {
      ...(passwordFault !== undefined && { password: passwordFault }),
      ...(step === undefined && {
        code: 'The code is incorrect. Enter the current code from your authenticator app.',
      }),
    })
  }
  const ip = plainAddress(clientAddress(request, proxies))
  const { tenantId } = invitation
  const memberId = await accept(operator, invitation, { password, totp, step, ip })
  if (memberId === undefined) return sendOver(response)
  await sessions.begin(request, response, { tenantId, memberId, ip })
  response.set('Cache-Control', 'no-store').redirect(303, '/')
}

/** Returns undefined on a conflict: the email address already belongs to a member, so the link is no longer valid. */
async function accept(...given: Parameters<typeof acceptInvitation>): Promise<string | undefined> {
  try {
    return await acceptInvitation(...given)
  } catch (error) {
    if (error instanceof ControlError && error.kind === 'conflict') return undefined
    throw error
  }
}

const contextOf = ({ tenantId, id }: OpenInvitation) => `invitations.totp_secret ${tenantId} ${id}`

function readTotp({ pepper }: Operator, invitation: OpenInvitation, sealed: string): string | undefined {
  try {
    return unseal(pepper, Buffer.from(sealed, 'base64url'), contextOf(invitation))
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}

async function openOrRefuse(
  { operator }: Parts,
  request: JoinRequest,
  response: Response,
): Promise<OpenInvitation | undefined> {
  const invitation = await openInvitation(operator, request.params.link)
  if (!invitation) sendOver(response)
  return invitation
}

function sendOver(response: Response): void {
  const text =
    'This link has been used, was withdrawn, or has expired. Ask an owner of the account for a new invitation.'
  sendPage(response, 410, writeNotice('Invitation not valid', text))
}

async function sendForm(
  { operator, forms, barcodes }: Parts,
  response: Response,
  invitation: OpenInvitation,
  status: number,
  totp: string,
  faults?: JoinForm['faults'],
): Promise<void> {
  const { tenantId, id, email, tenant_name } = invitation
  const sealedTotp = seal(operator.pepper, totp, contextOf(invitation)).toString('base64url')
  const message = writeKeyUri(email, tenant_name, totp)
  const qr = (await barcodes.draw(tenantId, { format: 'qr', message }))?.svg
  const guard = forms.issue(response, id, '/invitations')
  sendPage(
    response,
    status,
    writeJoin({ invitation, guard, totp, qr, sealedTotp, ...(faults && { faults }) }),
  )
}
