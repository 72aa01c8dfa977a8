/**
 * What was typed into a form whose session had ended: it goes through the page of signing in, sealed, and comes back to who typed it,
 * to be sent again by hand. Nothing of it is kept here.
 */
import type { Request, Response } from 'express'
import { type Html, html } from '../../platform/html.ts'
import { seal, UnsealError, unseal } from '../../platform/secrets.ts'
import { facts, field, fileField, notice } from '../page/components.ts'
import { type FormGuard, GUARD_FIELD } from '../page/forms.ts'
import { sendPage, writeNotice, writePage } from '../page/layout.ts'
import { uploadedNames } from '../page/uploads.ts'
import { TYPED_FIELD } from '../sign-in/pages.ts'
import type { Member } from '../sign-in/sessions.ts'
import { KEY } from './shape/form-page.ts'

/** Of the fields, as JSON. */
export const MAX_TYPED_BYTES = 32 * 1024

const KEPT_MS = 30 * 60_000

/** Never kept: typed again. */
const SECRETS: readonly string[] = ['code', 'factor', 'password', 'current', 'next']

/** Of these, codes of the member's app. */
const CODES: readonly string[] = ['code', 'factor']

/** Made by a device for one moment: such a form begins anew. */
const MOMENTARY = 'credential'

const CONTEXT = 'fields of a form whose session had ended'

interface Typed {
  readonly path: string
  /** The address of the page that the form stands on. */
  readonly page: string
  /** What proved that the form was made for the member, in this browser. */
  readonly guard: string
  readonly fields: Readonly<Record<string, readonly string[]>>
  /** Names of secrets that were typed, and of files that were chosen. */
  readonly secrets: readonly string[]
  readonly files: readonly string[]
  /** Machine time, milliseconds. */
  readonly until: number
}

/** @returns the fields of a form, sealed; undefined where nothing was typed, and `too long` beyond what is kept. */
export function sealTyped(
  request: Request,
  page: string,
  pepper: string,
  now: number,
): string | 'too long' | undefined {
  const body: unknown = request.body
  if (typeof body !== 'object' || body === null || MOMENTARY in body) return undefined
  const all = Object.entries(body).map(([name, value]) => [name, [value].flat().map(String)] as const)
  const named = all.filter(([name]) => name !== GUARD_FIELD)
  const fields = Object.fromEntries(named.filter(([name]) => !SECRETS.includes(name)))
  if (Object.keys(fields).every((name) => name === KEY)) return undefined
  const typed: Typed = {
    path: request.originalUrl,
    page,
    guard: all.find(([name]) => name === GUARD_FIELD)?.[1][0] ?? '',
    fields,
    secrets: named.map(([name]) => name).filter((name) => SECRETS.includes(name)),
    files: uploadedNames(request),
    until: now + KEPT_MS,
  }
  const text = JSON.stringify(typed)
  if (Buffer.byteLength(text) > MAX_TYPED_BYTES) return 'too long'
  return seal(pepper, text, CONTEXT).toString('base64url')
}

/** @returns undefined for what is not ours, or too old. */
function openTyped(sealed: string, pepper: string, now: number): Typed | undefined {
  try {
    const typed = JSON.parse(unseal(pepper, Buffer.from(sealed, 'base64url'), CONTEXT)) as Typed
    return typed.until > now ? typed : undefined
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}

export interface SendAgainParts {
  readonly forms: FormGuard
  readonly pepper: string
  /** What a form of the member's is for. */
  readonly formName: (member: Member, path: string) => string
}

/** Shows who typed it what was typed, to be sent; nobody else. */
export function showTyped(
  { forms, pepper, formName }: SendAgainParts,
  member: Member,
  now: number,
  request: Request,
  response: Response,
): void {
  const body = (request.body ?? {}) as Readonly<Record<string, unknown>>
  const typed = openTyped(String(body[TYPED_FIELD] ?? ''), pepper, now)
  // The proof that the form came with: it was made for one member, in one browser.
  if (typed) request.body = { [GUARD_FIELD]: typed.guard }
  if (!typed || !forms.isOwn(request, formName(member, typed.path.split('?')[0]!))) {
    const text = 'What was typed comes back to who typed it, in the same browser, within half an hour.'
    return sendPage(response, 403, writeNotice('Nothing to send', text))
  }
  const guard = forms.issue(response, formName(member, typed.path.split('?')[0]!), '/')
  sendPage(response, 200, writeTyped(typed, guard))
}

function writeTyped({ path, page, fields, secrets, files }: Typed, guard: Html): Html {
  const shown = Object.entries(fields).filter(
    ([name, values]) => name !== KEY && values.some((value) => value !== ''),
  )
  return writePage({
    title: 'Send it again?',
    narrow: true,
    content: html`${notice('warn', 'Your session had ended, so nothing was sent. This is what you typed: look it over and send it again.')}
${facts(shown.map(([name, values]) => [name.replaceAll('_', ' '), html`<span class="typed">${values.join('\n')}</span>`]))}
<form method="post" action="${path}"${files.length > 0 && html` enctype="multipart/form-data"`}>
${guard}
${Object.entries(fields).flatMap(([name, values]) =>
  values.map((value) => html`<input type="hidden" name="${name}" value="${value}">\n`),
)}${secrets.map((name) =>
  field({
    name,
    label: CODES.includes(name) ? 'Code of your authenticator app' : `${name} password`,
    ...(CODES.includes(name)
      ? { inputMode: 'numeric', autocomplete: 'one-time-code' }
      : { type: 'password' }),
  }),
)}
${files.map((name) => fileField({ name, label: `${name.replaceAll('_', ' ')}, chosen again`, optional: true }))}
<div class="actions"><button type="submit">Send</button> <a class="button second" href="${page}">Leave it</a></div>
</form>`,
  })
}
