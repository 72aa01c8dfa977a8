/** Writes the fields of forms. */
import type { Html } from '../../platform/html.ts'
import { choice, field, fileField, type InputField, textArea } from '../html/components.ts'
import { picker } from '../html/picker.ts'
import { writeQuery } from './list-page.ts'
import type { FormField, Match } from './shapes.ts'
import type { DashboardVisit } from './visit.ts'

/** First path segment of the lookups of the pickers. */
export const LOOKUP_PATH = 'find'

/** The content of a field. */
export interface FieldContent extends Pick<InputField, 'value' | 'fault'> {
  /** Records that a picker offers. */
  readonly offered?: readonly Match[]
}

const INPUT_MODES = { text: undefined, amount: 'decimal', number: 'numeric' } as const

export function writeField(
  { environment }: DashboardVisit,
  { kind = 'text', options = [], pick, status = '', ...asked }: FormField,
  { offered = [], ...content }: FieldContent,
): Html {
  const given = { ...asked, ...content }
  if (pick) {
    const { value = '' } = content
    const isPicked = offered.some(({ id }) => id === value)
    const lookup = `/${environment}/${LOOKUP_PATH}/${pick.path}${writeQuery({ status })}`
    return picker({
      ...given,
      offered,
      picked: isPicked ? value : '',
      value: isPicked ? undefined : value,
      lookup,
    })
  }
  if (kind === 'choice' || kind === 'truth') return choice({ ...given, options })
  if (kind === 'file') return fileField(given)
  return kind === 'lines' ? textArea(given) : field({ ...given, inputMode: INPUT_MODES[kind] })
}
