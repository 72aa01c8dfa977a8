/**
 * Keeps the fields of a form that was submitted after the session ended. The sign-in page carries the fields in encrypted form.
 * After sign-in, the same member reviews the fields and submits them again. The server stores nothing.
 */
import type { Request, Response } from 'express'
import { type Html, html } from '../../platform/html.ts'
import { seal, UnsealError, unseal } from '../../platform/secrets.ts'
import { KEY } from '../engine/form-page.ts'
import { codeField, facts, field, fileField, notice } from '../html/components.ts'
import { CODE_FIELD, type FormGuard, formField, GUARD_FIELD } from '../html/forms.ts'
import { sendPage, writeNotice, writePage } from '../html/layout.ts'
import { uploadedNames } from '../html/uploads.ts'
import { NOT_CONFIRMED, NOT_CONFIRMED_WITH_PASSWORD } from '../sign-in/own-credentials.ts'
import { TYPED_FIELD } from '../sign-in/pages.ts'
import type { SignedInMember } from '../sign-in/sessions.ts'

/** Maximum size of the fields as JSON. */
export const MAX_TYPED_BYTES = 32 * 1024

const KEPT_MS = 30 * 60_000

/** Secret fields are not kept; the member enters them again. */
const ACCOUNT_NUMBER = 'bank_account.account_number'

const SECRETS: readonly string[] = [CODE_FIELD, 'password', 'current', 'next', ACCOUNT_NUMBER]

const PASSWORDS: Readonly<Record<string, string>> = {
  current: 'Current password',
  next: 'New password',
  [ACCOUNT_NUMBER]: 'Account number',
}

/** A passkey response is valid only for its challenge, so a form with this field is not kept. */
const MOMENTARY = 'credential'

const CONTEXT = 'fields of a form whose session had ended'

/** A submitted form. */
interface SentForm {
  readonly path: string
  readonly fields: Readonly<Record<string, readonly string[]>>
  /** Names of the submitted secret fields. */
  readonly secrets: readonly string[]
  /** Names of the fields with uploaded files. */
  readonly files: readonly string[]
}

interface Typed extends SentForm {
  /** Path of the page that contains the form. */
  readonly page: string
  /** CSRF token of the form. */
  readonly guard: string
  /** Expiry, in machine time (milliseconds). */
  readonly until: number
}

/** Returns the encrypted fields, undefined if the form has no fields to keep, or `too long` above `MAX_TYPED_BYTES`. */
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

/** Returns undefined if the value was not encrypted by this service or has expired. */
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
  /** Returns the purpose that the CSRF token of a member's form is bound to. */
  readonly formName: (member: SignedInMember, path: string) => string
}

/** Shows the kept fields for review, but only to the member who entered them. */
export function showTyped(
  { forms, pepper, formName }: SendAgainParts,
  member: SignedInMember,
  now: number,
  request: Request,
  response: Response,
): void {
  const typed = openTyped(formField(request, TYPED_FIELD), pepper, now)
  // The CSRF token of the original form proves that the same member submitted it from the same browser.
  if (typed) request.body = { [GUARD_FIELD]: typed.guard }
  if (!typed || !forms.isOwn(request, formName(member, typed.path.split('?')[0]!))) {
    const text =
      'This form was submitted by a different member or from a different browser, or more than 30 minutes ago. Open the page again and complete the form.'
    return sendPage(response, 403, writeNotice('Form not available', text))
  }
  const guard = forms.issue(response, formName(member, typed.path.split('?')[0]!), '/')
  sendPage(response, 200, writeTyped(typed, guard))
}

function writeTyped(typed: Typed, guard: Html): Html {
  const shown = Object.entries(typed.fields).filter(
    ([name, values]) => name !== KEY && values.some((value) => value !== ''),
  )
  return writePage({
    title: 'Submit form again',
    narrow: true,
    content: html`${notice('warn', 'Your session had ended, so the form was not submitted. Review your entries and submit the form again.')}
${facts(shown.map(([name, values]) => [name.replaceAll('_', ' '), html`<span class="typed">${values.join('\n')}</span>`]))}
${writeForm(typed, typed.page, guard)}`,
  })
}

/** Asks for the code that the form requires. The other fields are passed on as hidden fields. */
export function writeCodePage(request: Request, page: string, guard: Html): Html {
  const sent = readSent(request)
  const isWrong = formField(request, CODE_FIELD) !== ''
  const wrong = sent.secrets.includes('current') ? NOT_CONFIRMED_WITH_PASSWORD : NOT_CONFIRMED
  const told = isWrong ? wrong : 'This action requires a new code from your authenticator app.'
  return writePage({
    title: 'Confirm with your authenticator app',
    narrow: true,
    content: html`${notice(isWrong ? 'bad' : 'warn', `${told} No changes were made.`)}
${writeForm({ ...sent, secrets: [...new Set([...sent.secrets, CODE_FIELD])] }, page, guard)}`,
  })
}

/** Writes the form with its values as hidden fields. @param page target of the Cancel button. */
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
${files.map((name) => fileField({ name, label: `${name.replaceAll('_', ' ')} (select the file again)`, optional: true }))}
<div class="actions"><button type="submit">Submit form</button> <a class="button second" href="${page}">Cancel</a></div>
</form>`
}
