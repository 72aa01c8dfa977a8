/** Formats a promotion plan for people. */
import type { LivePromotion } from './live-session.ts'
import { type Colour, type Paint, withoutControls } from './terminal/colours.ts'

type PlannedStep = LivePromotion['plan'][number]

const SIGNS: Readonly<Record<string, readonly [sign: string, colour: Colour]>> = {
  create: ['+', 'green'],
  unchanged: ['=', 'grey'],
  differs: ['~', 'yellow'],
  refused: ['!', 'red'],
}

/** Formats each object on one line, followed by its differences from the copy or the reasons why it is refused. */
export function showPlan({ plan }: LivePromotion, paint: Paint): string {
  return plan.flatMap((step) => linesOf(step, paint)).join('\n')
}

function linesOf(
  { sandbox_id, live_id, action, differences, problems }: PlannedStep,
  paint: Paint,
): string[] {
  const [sign, colour] = SIGNS[action] ?? ['?', 'magenta']
  const copy = live_id === null ? '' : ` ${action === 'differs' ? 'from' : 'as'} ${live_id}`
  const details = [
    ...differences.flatMap(({ field, sandbox, live }) => [
      `    ${field}`,
      `      sandbox  ${sandbox ?? '–'}`,
      `      live     ${live ?? '–'}`,
    ]),
    ...problems.map(({ field, issue }) => `    ${field === '' ? 'it' : field} ${issue}`),
  ]
  return [paint(colour, `${sign} ${sandbox_id}  ${action}${copy}`), ...details.map(withoutControls)]
}

/** Returns the number of objects with this action in the plan. */
export function countOf({ plan }: LivePromotion, action: PlannedStep['action']): number {
  return plan.filter((step) => step.action === action).length
}
