import type { components } from '../../../../generated/canonical/types.ts'
import { type FormField, type FormValues, resource } from '../../engine/shapes.ts'
import { code, orDash, when, words } from '../../engine/values.ts'
import { promotes } from '../promotions/promotions.ts'
import {
  CONTROL_FIELDS,
  controlFacts,
  controlValues,
  readControls,
  writeLimits,
} from './spending-controls.ts'

type Program = components['schemas']['CardProgram']
const FIELDS: readonly FormField[] = [
  { name: 'name', label: 'Name' },
  ...CONTROL_FIELDS,
  {
    group: 'Design',
    name: 'design.background_color',
    label: 'Card color',
    kind: 'color',
    optional: true,
    hint: 'For example, #1e3a5f. Leave both colors empty for the standard design.',
  },
  { group: 'Design', name: 'design.foreground_color', label: 'Text color', kind: 'color', optional: true },
  { group: 'Design', name: 'design.text', label: 'Second line of text', optional: true },
]

function readProgram(values: FormValues): object {
  const background_color = values['design.background_color']
  const foreground_color = values['design.foreground_color']
  const text = values['design.text']
  const design = { background_color, foreground_color, ...(text && { text }) }
  return {
    name: values.name,
    spending_controls: readControls(values),
    ...((background_color || foreground_color) && { design }),
  }
}

function currentValues({ name, spending_controls: controls, design }: Program): FormValues {
  return {
    name,
    ...controlValues(controls),
    'design.background_color': design?.background_color ?? '',
    'design.foreground_color': design?.foreground_color ?? '',
    'design.text': design?.text ?? '',
  }
}

export const CARD_PROGRAMS = resource<Program>({
  path: 'card-programs',
  title: 'Card programs',
  intro: 'A card program sets the spending controls and the design of its cards.',
  list: {
    operation: 'listCardPrograms',
    columns: [
      { title: 'Name', show: ({ name }) => name },
      { title: 'Card type', show: ({ kind }) => words(kind) },
      {
        title: 'Spending limits',
        show: ({ spending_controls }) => String(spending_controls.spending_limits.length),
      },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    empty: 'No card programs yet. Create a program to give its cards shared limits and a design.',
  },
  create: {
    operation: 'createCardProgram',
    title: 'Create card program',
    button: 'Create card program',
    fields: [
      {
        name: 'kind',
        label: 'Card type',
        kind: 'choice',
        options: ['virtual', 'physical', 'both'].map((kind) => [kind, words(kind)] as const),
      },
      ...FIELDS,
    ],
    body: (values) => ({ ...readProgram(values), kind: values.kind }),
  },
  detail: {
    operation: 'getCardProgram',
    parameter: 'card_program_id',
    name: ({ name }) => name,
    facts: ({ id, kind, spending_controls, design, created, updated }) => [
      ['ID', code(id)],
      ['Card type', words(kind)],
      ...controlFacts(spending_controls),
      ['Colors', design === null ? '–' : `${design.foreground_color} on ${design.background_color}`],
      ['Second line of text', orDash(design?.text)],
      ['Created', when(created)],
      ['Updated', when(updated)],
    ],
    ways: [promotes('card_program')],
    actions: [
      {
        name: 'change',
        operation: 'updateCardProgram',
        button: 'Edit card program',
        warning:
          'The new spending controls apply immediately to all cards that use the controls of this program.',
        fields: FIELDS,
        values: currentValues,
        body: readProgram,
      },
    ],
    sections: [
      {
        title: 'Spending limits',
        write: ({ spending_controls }, _visit, link) =>
          writeLimits(
            spending_controls,
            link,
            'No spending limits. Cards in this program can spend the full available balance.',
          ),
      },
    ],
  },
})
