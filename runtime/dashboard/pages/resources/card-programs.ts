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
  { name: 'design.background_color', label: 'Colour of the card', optional: true, hint: 'Such as #1e3a5f.' },
  { name: 'design.foreground_color', label: 'Colour of the print', optional: true },
  { name: 'design.text', label: 'Second line on the card', optional: true },
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
  intro: 'What cards of one kind have in common: what they may be used for, and how they look.',
  list: {
    operation: 'listCardPrograms',
    columns: [
      { title: 'Name', show: ({ name }) => name },
      { title: 'Cards', show: ({ kind }) => words(kind) },
      { title: 'Limits', show: ({ spending_controls }) => String(spending_controls.spending_limits.length) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    empty: 'No program yet. Make one, and the cards issued in it take its limits and its look.',
  },
  create: {
    operation: 'createCardProgram',
    title: 'Make a program',
    button: 'Make',
    fields: [
      {
        name: 'kind',
        label: 'Cards',
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
      ['Identifier', code(id)],
      ['Cards', words(kind)],
      ...controlFacts(spending_controls),
      ['Colours', design === null ? '–' : `${design.background_color} under ${design.foreground_color}`],
      ['Second line', orDash(design?.text)],
      ['Created', when(created)],
      ['Changed', when(updated)],
    ],
    ways: [promotes('card_program')],
    actions: [
      {
        name: 'change',
        operation: 'updateCardProgram',
        button: 'Change',
        warning: 'Cards that follow the program are held to what stands here from now on.',
        fields: FIELDS,
        values: currentValues,
        body: readProgram,
      },
    ],
    sections: [
      {
        title: 'Limits',
        write: ({ spending_controls }, _visit, link) =>
          writeLimits(spending_controls, link, 'No limit: cards of the program spend what the balance has.'),
      },
    ],
  },
})
