/**
 * What was typed into a form whose session had ended: it goes through the page of signing in, sealed, and comes back to who typed it,
 * to be sent again by hand. Nothing of it is kept here.
 */
import type { Request, Response } from 'express'
import { type Html, html } from '../../platform/html.ts'
import { seal, UnsealError, unseal } from '../../platform/secrets.ts'
import { KEY } from '../engine/form-page.ts'
import { codeField, facts, field, fileField, notice } from '../html/components.ts'
import { CODE_FIELD, type FormGuard, formField, GUARD_FIELD } from '../html/forms.ts'
import { sendPage, writeNotice, writePage } from '../html/layout.ts'
import { uploadedNames } from '../html/uploads.ts'
import { NOT_CONFIRMED } from '../sign-in/own-credentials.ts'
import { TYPED_FIELD } from '../sign-in/pages.ts'
import type { SignedInMember } from '../sign-in/sessions.ts'

/** Of the fields, as JSON. */
export const MAX_TYPED_BYTES = 32 * 1024

const KEPT_MS = 30 * 60_000

/** Never kept: typed again. */
const SECRETS: readonly string[] = [CODE_FIELD, 'password', 'current', 'next']

const PASSWORDS: Readonly<Record<string, string>> = { current: 'Password now', next: 'New password' }

/** Made by a device for one moment: such a form begins anew. */
const MOMENTARY = 'credential'

const CONTEXT = 'fields of a form whose session had ended'

/** What a form came with. */
interface SentForm {
  readonly path: string
  readonly fields: Readonly<Record<string, readonly string[]>>
  /** Names of secrets that were typed, and of files that were chosen. */
  readonly secrets: readonly string[]
  readonly files: readonly string[]
}

interface Typed extends SentForm {
  /** The address of the page that the form stands on. */
  readonly page: string
  /** What proved that the form was made for the member, in this browser. */
  readonly guard: string
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
  const sent = readSent(request)
  const names = Object.keys(sent.fields)
  if (names.includes(MOMENTARY) || names.every((name) => name === KEY)) return undefined
  const typed: Typed = { ...sent, page, guard: formField(request, GUARD_FIELD), until: now + KEPT_MS }
  const text = JSON.stringify(typed)
  if (Buffer.byteLength(text) > MAX_TYPED_BYTES) return 'too long'
  return seal(pepper, text, CONTEXT).toString('base64url')
}

function readSent(request: Request): SentForm {
  const all = Object.entries((request.body ?? {}) as Readonly<Record<string, unknown>>)
  const named = all
    .filter(([name]) => name !== GUARD_FIELD)
    .map(([name, value]) => [name, [value].flat().map(String)] as const)
  return {
    path: request.originalUrl,
    fields: Object.fromEntries(named.filter(([name]) => !SECRETS.includes(name))),
    secrets: named.map(([name]) => name).filter((name) => SECRETS.includes(name)),
    files: uploadedNames(request),
  }
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
  readonly formName: (member: SignedInMember, path: string) => string
}

/** Shows who typed it what was typed, to be sent; nobody else. */
export function showTyped(
  { forms, pepper, formName }: SendAgainParts,
  member: SignedInMember,
  now: number,
  request: Request,
  response: Response,
): void {
  const typed = openTyped(formField(request, TYPED_FIELD), pepper, now)
  // The proof that the form came with: it was made for one member, in one browser.
  if (typed) request.body = { [GUARD_FIELD]: typed.guard }
  if (!typed || !forms.isOwn(request, formName(member, typed.path.split('?')[0]!))) {
    const text = 'What was typed comes back to who typed it, in the same browser, within half an hour.'
    return sendPage(response, 403, writeNotice('Nothing to send', text))
  }
  const guard = forms.issue(response, formName(member, typed.path.split('?')[0]!), '/')
  sendPage(response, 200, writeTyped(typed, guard))
}

function writeTyped(typed: Typed, guard: Html): Html {
  const shown = Object.entries(typed.fields).filter(
    ([name, values]) => name !== KEY && values.some((value) => value !== ''),
  )
  return writePage({
    title: 'Send it again?',
    narrow: true,
    content: html`${notice('warn', 'Your session had ended, so nothing was sent. This is what you typed: look it over and send it again.')}
${facts(shown.map(([name, values]) => [name.replaceAll('_', ' '), html`<span class="typed">${values.join('\n')}</span>`]))}
${writeForm(typed, typed.page, guard)}`,
  })
}

/** Asks for the code without which a form is not acted on; the rest of the form comes along. */
export function writeCodePage(request: Request, page: string, guard: Html): Html {
  const sent = readSent(request)
  const isWrong = formField(request, CODE_FIELD) !== ''
  const told = isWrong
    ? NOT_CONFIRMED
    : 'This takes a fresh code of your authenticator app: your session alone is not enough for it.'
  return writePage({
    title: 'Confirm with a code',
    narrow: true,
    content: html`${notice(isWrong ? 'bad' : 'warn', `${told} Nothing was done.`)}
${writeForm({ ...sent, secrets: [...new Set([...sent.secrets, CODE_FIELD])] }, page, guard)}`,
  })
}

/** The form once more. @param page where its sender goes instead. */
function writeForm({ path, fields, secrets, files }: SentForm, page: string, guard: Html): Html {
  return html`<form method="post" action="${path}"${files.length > 0 && html` enctype="multipart/form-data"`}>
${guard}
${Object.entries(fields).flatMap(([name, values]) =>
  values.map((value) => html`<input type="hidden" name="${name}" value="${value}">\n`),
)}${secrets.map((name) =>
  name === CODE_FIELD
    ? codeField('again')
    : field({ name, label: PASSWORDS[name] ?? name, type: 'password' }),
)}
${files.map((name) => fileField({ name, label: `${name.replaceAll('_', ' ')}, chosen again`, optional: true }))}
<div class="actions"><button type="submit">Send</button> <a class="button second" href="${page}">Leave it</a></div>
</form>`
}
