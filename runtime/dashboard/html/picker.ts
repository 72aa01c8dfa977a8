/** The picker: a text field that finds a record by name. */
import { type Html, html } from '../../platform/html.ts'
import { describe, type InputField, labelled } from './components.ts'
import { changeButton } from './controls.ts'

/** The script that turns pickers into comboboxes. */
export const FORM_SCRIPT = 'form.js'

/** A record or a list member that can be picked. */
export interface PickerOption {
  readonly id: string
  readonly name: string
  readonly about: string
}

/** Name of the field with the text that a member types into the picker. The field with the name of the picker has the ID. */
export const typedName = (name: string): string => `find:${name}`

export interface PickerField extends InputField {
  /** Offered as choices: the picked records, or the records that match the text. */
  readonly offered: readonly PickerOption[]
  /** IDs of the picked records. */
  readonly picked: readonly string[]
  /** Path of the lookup. */
  readonly lookup: string
  /** Whether several records can be picked. */
  readonly isMany?: boolean | undefined
}

/**
 * Writes a picker. Without scripts, members type a name or an ID, and the server shows the matching records as choices
 * if there are several. With scripts, the text field is a combobox.
 */
export function picker(given: PickerField): Html {
  const { name, label, value, optional, offered, picked, lookup, isMany = false } = given
  const isWhole = picked.length > 0 && picked.length === offered.length
  const none = optional && !isMany && offered.length > 0 ? [{ id: '', name: 'None', about: '' }] : []
  return html`<div class="picker" data-picker="${name}" data-lookup="${lookup}"${isMany && html` data-many`}${!optional && html` data-required`}>${labelled(
    given,
    html`${
      offered.length > 0 &&
      html`<ul class="offered ${isMany ? 'many' : isWhole ? 'picked' : ''}" role="${isMany ? 'group' : 'radiogroup'}" aria-label="${label}">${[
        ...offered,
        ...none,
      ].map(
        (each) =>
          html`<li role="presentation"><label><input type="${isMany ? 'checkbox' : 'radio'}" name="${name}" value="${each.id}" data-text="${each.name}"${picked.includes(each.id) && html` checked`}> ${each.name}${
            each.about !== '' && html` <span class="quiet">${each.about}</span>`
          }</label></li>`,
      )}</ul>`
    }<input id="${name}" name="${typedName(name)}" type="text" autocomplete="off" spellcheck="false" placeholder="${
      isMany
        ? 'Search to add'
        : offered.length > 0
          ? 'Search for a different name or ID'
          : 'Search by name or ID'
    }"${offered.length === 0 && !optional && html` required`}${value !== undefined && value !== '' && html` value="${value}"`}${describe(given)}>`,
  )}${isMany && html`<noscript>${changeButton(`pick:${name}`, 'Add', `Add: ${label}`)}</noscript>`}</div>`
}
