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
  readonly type?: 'text' | 'email' | 'password' | 'color' | 'date' | 'datetime-local'
  /** Initial value. Never set for passwords. */
  readonly value?: string | undefined
  readonly autocomplete?: string
  readonly inputMode?: 'numeric' | 'decimal' | undefined
  readonly optional?: boolean
  /** Whether browsers require a value. Defaults to true for fields that are not optional. */
  readonly isRequired?: boolean
  readonly hint?: string | undefined
  /** Error message for the submitted value. */
  readonly fault?: string | undefined
  /** The field gets the focus when the page is loaded. */
  readonly hasFocus?: boolean
}

/** Writes a labeled input with its hint and error message. The input is required unless it is optional. */
export function field(given: InputField): Html {
  const {
    name,
    id = name,
    type = 'text',
    value,
    autocomplete = 'off',
    inputMode,
    isRequired = !given.optional,
  } = given
  return labelled(
    given,
    html`<input id="${id}" name="${name}" type="${type}" autocomplete="${autocomplete}"${
      isRequired && html` required`
    }${inputMode && html` inputmode="${inputMode}"`}${value !== undefined && html` value="${value}"`}${describe(given)}>`,
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
  const { name, accept, isRequired = !given.optional } = given
  return labelled(
    given,
    html`<input id="${name}" name="${name}" type="file"${accept !== undefined && html` accept="${accept}"`}${
      isRequired && html` required`
    }${describe(given)}>`,
  )
}

export function textArea(given: InputField & { readonly rows?: number }): Html {
  const { name, value = '', rows = 4, isRequired = !given.optional } = given
  return labelled(
    given,
    html`<textarea id="${name}" name="${name}" rows="${String(rows)}" autocomplete="off"${
      isRequired && html` required`
    }${describe(given)}>\n${value}</textarea>`,
  )
}

export function choice(
  given: InputField & {
    readonly options: readonly (readonly [value: string, text: string, group?: string])[]
  },
): Html {
  const { name, value, options } = given
  return labelled(
    given,
    html`<select id="${name}" name="${name}" autocomplete="off"${describe(given)}>${options.map(
      ([each, text]) => html`<option value="${each}"${each === value && html` selected`}>${text}</option>`,
    )}</select>`,
  )
}

/** Writes the attributes that connect a control with its hint and error message, and moves the focus to it on request. */
export function describe({ name, id = name, hint, fault, hasFocus }: InputField): Html {
  const notes = [fault !== undefined && `${id}-fault`, hint !== undefined && `${id}-hint`].filter(Boolean)
  return html`${hasFocus && html` autofocus`}${fault !== undefined && html` aria-invalid="true"`}${
    notes.length > 0 && html` aria-describedby="${notes.join(' ')}"`
  }`
}

/** Writes a label, a control, and the hint and error message of the control. */
export function labelled(given: InputField, control: Html): Html {
  const { name, id = name, label, optional } = given
  return html`<div class="field">
<label for="${id}">${label}${optional && html` <span class="quiet">(optional)</span>`}</label>
${control}
${writeNotes(given)}</div>`
}

/** Writes the error message and the hint of a control. */
export function writeNotes({ name, id = name, hint, fault }: InputField): Html {
  return html`${fault !== undefined && html`<p class="fault" id="${id}-fault">${fault}</p>\n`}${
    hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>\n`
  }`
}

/** Writes a description list of names and values. */
export function facts(pairs: readonly (readonly [name: string, value: Html | string])[]): Html {
  return html`<dl>
${pairs.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`
}
