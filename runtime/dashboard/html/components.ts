/** The small parts that pages of the console are made of. */
import { type Html, html } from '../../platform/html.ts'
import { CODE_FIELD } from './forms.ts'

/** What went wrong, well, or is to be thought of; a screen reader says it at once. */
export function notice(kind: 'bad' | 'good' | 'warn', text: string): Html {
  return html`<p class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`
}

export interface InputField {
  /** Of the form's field. */
  readonly name: string
  /** Of its element, where a page has several of the name. */
  readonly id?: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password' | 'color'
  /** What was typed before. Never given for a password. */
  readonly value?: string | undefined
  readonly autocomplete?: string
  readonly inputMode?: 'numeric' | 'decimal' | undefined
  /** Values to choose from; others can be typed. */
  readonly suggestions?: readonly (readonly [value: string, text: string])[] | undefined
  readonly optional?: boolean
  readonly hint?: string | undefined
  /** What is wrong with what was typed. */
  readonly fault?: string | undefined
}

/** A labelled input that must be filled in, unless it is optional, with what is wrong beside it. */
export function field(given: InputField): Html {
  const { name, id = name, type = 'text', value, autocomplete = 'off', inputMode, suggestions = [] } = given
  const list = suggestions.length > 0 ? `${id}-list` : undefined
  return labelled(
    given,
    html`<input id="${id}" name="${name}" type="${type}" autocomplete="${autocomplete}"${
      !given.optional && html` required`
    }${inputMode && html` inputmode="${inputMode}"`}${value !== undefined && html` value="${value}"`}${list && html` list="${list}"`}${describe(given)}>${
      list &&
      html`<datalist id="${list}">${suggestions.map(
        ([each, text]) => html`<option value="${each}">${text}</option>`,
      )}</datalist>`
    }`,
  )
}

/** The code with which a member confirms a form. */
export const codeField = (form: string): Html =>
  field({
    name: CODE_FIELD,
    id: `${form}-code`,
    label: 'Code of your authenticator app',
    inputMode: 'numeric',
    autocomplete: 'one-time-code',
  })

/** A labelled choice of a file. What was chosen is never in a page: it is chosen again. */
export function fileField(given: InputField & { readonly accept?: string }): Html {
  const { name, accept, optional } = given
  return labelled(
    given,
    html`<input id="${name}" name="${name}" type="file"${accept !== undefined && html` accept="${accept}"`}${
      !optional && html` required`
    }${describe(given)}>`,
  )
}

/** A labelled input of several lines. */
export function textArea(given: InputField & { readonly rows?: number }): Html {
  const { name, value = '', rows = 4 } = given
  return labelled(
    given,
    html`<textarea id="${name}" name="${name}" rows="${String(rows)}" autocomplete="off"${
      !given.optional && html` required`
    }${describe(given)}>\n${value}</textarea>`,
  )
}

/** A labelled choice of one. */
export function choice(
  given: InputField & { readonly options: readonly (readonly [value: string, text: string])[] },
): Html {
  const { name, value, options } = given
  return labelled(
    given,
    html`<select id="${name}" name="${name}" autocomplete="off"${describe(given)}>${options.map(
      ([each, text]) => html`<option value="${each}"${each === value && html` selected`}>${text}</option>`,
    )}</select>`,
  )
}

function describe({ name, id = name, hint, fault }: InputField): Html {
  const notes = [fault !== undefined && `${id}-fault`, hint !== undefined && `${id}-hint`].filter(Boolean)
  return html`${fault !== undefined && html` aria-invalid="true"`}${
    notes.length > 0 && html` aria-describedby="${notes.join(' ')}"`
  }`
}

function labelled({ name, id = name, label, optional, hint, fault }: InputField, control: Html): Html {
  return html`<div class="field">
<label for="${id}">${label}${optional && html` <span class="quiet">(optional)</span>`}</label>
${control}
${fault !== undefined && html`<p class="fault" id="${id}-fault">${fault}</p>`}
${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
</div>`
}

/** Names and what they are, one below the other. */
export function facts(pairs: readonly (readonly [name: string, value: Html | string])[]): Html {
  return html`<dl>
${pairs.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`
}
