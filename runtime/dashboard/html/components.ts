/** HTML components of the console pages. */
import { type Html, html } from '../../platform/html.ts'
import { CODE_FIELD } from './forms.ts'

/** Writes an error, success, or warning message. Screen readers announce it immediately. */
export function notice(kind: 'bad' | 'good' | 'warn', text: string): Html {
  return html`<p class="notice ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`
}

export interface InputField {
  /** Name of the form field. */
  readonly name: string
  /** ID of the element, if a page contains several fields with the same name. */
  readonly id?: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password' | 'color' | 'date'
  /** Initial value. Never set for passwords. */
  readonly value?: string | undefined
  readonly autocomplete?: string
  readonly inputMode?: 'numeric' | 'decimal' | undefined
  /** Suggested values. Other values are allowed. */
  readonly suggestions?: readonly (readonly [value: string, text: string])[] | undefined
  readonly optional?: boolean
  readonly hint?: string | undefined
  /** Error message for the submitted value. */
  readonly fault?: string | undefined
}

/** Writes a labeled input with its hint and error message. The input is required unless it is optional. */
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

/** Writes the field for the authenticator code that confirms a form. */
export const codeField = (form: string): Html =>
  field({
    name: CODE_FIELD,
    id: `${form}-code`,
    label: 'Authenticator code',
    inputMode: 'numeric',
    autocomplete: 'one-time-code',
  })

/** Writes a labeled file input. Browsers do not restore a selected file when the form is shown again. */
export function fileField(given: InputField & { readonly accept?: string }): Html {
  const { name, accept, optional } = given
  return labelled(
    given,
    html`<input id="${name}" name="${name}" type="file"${accept !== undefined && html` accept="${accept}"`}${
      !optional && html` required`
    }${describe(given)}>`,
  )
}

export function textArea(given: InputField & { readonly rows?: number }): Html {
  const { name, value = '', rows = 4 } = given
  return labelled(
    given,
    html`<textarea id="${name}" name="${name}" rows="${String(rows)}" autocomplete="off"${
      !given.optional && html` required`
    }${describe(given)}>\n${value}</textarea>`,
  )
}

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

/** Writes a description list of names and values. */
export function facts(pairs: readonly (readonly [name: string, value: Html | string])[]): Html {
  return html`<dl>
${pairs.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`
}
