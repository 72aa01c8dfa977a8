/** Form controls with several elements: radio buttons, checkboxes, and rows. */
import { type Html, html } from '../../platform/html.ts'
import { describe, type InputField, writeNotes } from './components.ts'

/** Name of the buttons that change a form instead of submitting it. Their value says how. */
export const CHANGE = 'change'

interface OptionField extends InputField {
  readonly options: readonly (readonly [value: string, text: string, group?: string])[]
}

/** Writes a fieldset with a legend, a hint, and an error message. */
function fieldset(given: InputField, className: string, content: Html): Html {
  const { name, id = name, label, optional } = given
  return html`<fieldset class="field ${className}" id="${id}" tabindex="-1"${describe(given)}>
<legend>${label}${optional && html` <span class="quiet">(optional)</span>`}</legend>
${content}
${writeNotes(given)}</fieldset>`
}

export function radios(given: OptionField): Html {
  const { name, value, options } = given
  return fieldset(
    given,
    'plain',
    html`${options.map(([each, text], index) => writeOption('radio', name, each, text, value === undefined ? index === 0 : each === value))}`,
  )
}

/** Writes a single checkbox, whose value is `true`. */
export function checkbox(given: InputField): Html {
  const { name, id = name, label, value } = given
  return html`<div class="field"><label class="option"><input id="${id}" type="checkbox" name="${name}" value="true"${
    value === 'true' && html` checked`
  }${describe(given)}> ${label}</label>${writeNotes(given)}</div>`
}

/** Value of the checkbox that makes the other checkboxes of a field unnecessary. */
export const ALL = '*'

/** Writes checkboxes below the headings of their groups. @param given.value checked values, one per line. */
export function checks(given: OptionField): Html {
  const { name, value = '', options } = given
  const checked = new Set(value.split('\n'))
  const write = (each: string, text: string) => writeOption('checkbox', name, each, text, checked.has(each))
  const groups = [
    ...Map.groupBy(
      options.filter(([each]) => each !== ALL),
      ([, , group = '']) => group,
    ),
  ]
  const all = options.find(([each]) => each === ALL)
  return fieldset(
    given,
    'checks',
    html`${all && write(ALL, all[1])}<div class="groups">${groups.map(
      ([group, members]) =>
        html`<div role="group" aria-label="${group}"><p class="quiet" aria-hidden="true">${group}</p>${members.map(([each, text]) => write(each, text))}</div>\n`,
    )}</div>`,
  )
}

function writeOption(
  type: 'radio' | 'checkbox',
  name: string,
  value: string,
  text: string,
  isChecked: boolean,
): Html {
  return html`<label class="option"><input type="${type}" name="${name}" value="${value}"${isChecked && html` checked`}> ${text}</label>\n`
}

/**
 * Writes a button that sends the form to the server, which shows it again with the change.
 *
 * @param form ID of the form, if the button is outside of it.
 */
export function changeButton(value: string, text: string, label = text, form?: string): Html {
  return html`<button class="second small" type="submit" name="${CHANGE}" value="${value}" formnovalidate${form !== undefined && html` form="${form}"`}${
    label !== text && html` aria-label="${label}"`
  }>${text}</button>`
}

/** Writes rows of fields with buttons that add and remove rows. @param noun what one row is called, such as `limit`. */
export function rows(given: InputField, noun: string, written: readonly Html[]): Html {
  return fieldset(
    given,
    'rows',
    html`${written.map(
      (row, index) =>
        html`<div class="row" role="group" aria-label="${noun} ${String(index + 1)}">${row}
${changeButton(`remove:${given.name}:${index}`, 'Remove', `Remove ${noun} ${index + 1}`)}</div>\n`,
    )}${changeButton(`add:${given.name}`, `Add ${noun}`)}`,
  )
}
