/** The small parts that pages of the console are made of. */
import { type Html, html } from '../../platform/html.ts'

/** What went wrong, well, or is to be thought of; a screen reader says it at once. */
export function notice(kind: 'bad' | 'good' | 'warn', text: string): Html {
  return html`<p class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`
}

export interface Field {
  /** Of the form's field and of its element. */
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password'
  /** What was typed before. Never given for a password. */
  readonly value?: string
  readonly autocomplete?: string
  readonly inputMode?: 'numeric'
  readonly hint?: string
  /** What is wrong with what was typed. */
  readonly fault?: string | undefined
}

/** A labelled input that must be filled in, with what is wrong beside it. */
export function field({
  name,
  label,
  type = 'text',
  value,
  autocomplete = 'off',
  inputMode,
  hint,
  fault,
}: Field): Html {
  const notes = [fault !== undefined && `${name}-fault`, hint !== undefined && `${name}-hint`].filter(Boolean)
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required${
    inputMode && html` inputmode="${inputMode}"`
  }${value !== undefined && html` value="${value}"`}${fault !== undefined && html` aria-invalid="true"`}${
    notes.length > 0 && html` aria-describedby="${notes.join(' ')}"`
  }>
${fault !== undefined && html`<p class="fault" id="${name}-fault">${fault}</p>`}
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
</div>`
}

/** Names and what they are, one below the other. */
export function facts(pairs: readonly (readonly [name: string, value: Html | string])[]): Html {
  return html`<dl>
${pairs.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`
}
