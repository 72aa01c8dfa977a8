/** Checks the names of behavior, and the operations and events that it affects. */
import { behavioursOf } from '../change/behaviour.ts'
import type { Diagnostic } from '../diagnostics/diagnostic.ts'
import type { VersionPair } from './steps.ts'

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

/** Returns a finding for each name that is taken or malformed, and for each operation and event that does not exist. */
export function checkBehaviour(steps: readonly VersionPair[]): Diagnostic[] {
  const first = new Map<string, string>()
  return steps.flatMap(({ next, changes }) => {
    const known = new Set([
      ...next.operations.map(({ id }) => id),
      ...next.events.map((event) => `event ${event.name}`),
    ])
    return behavioursOf(changes).flatMap(({ name, change: { id, file }, affects }): Diagnostic[] => {
      const place = { file, line: 1, column: 1, pointer: '' }
      const taken = first.get(name)
      first.set(name, taken ?? file)
      const refuse = (message: string, hint: string): Diagnostic[] => [
        { code: 'change-invalid', severity: 'error', message: `${id}: ${message}`, place, hint },
      ]
      return [
        ...(NAME.test(name)
          ? []
          : refuse(
              `${JSON.stringify(name)} cannot name behavior`,
              'use lowercase words joined by hyphens: archived-in-lists',
            )),
        ...(taken === undefined
          ? []
          : refuse(`the behavior ${name} has the name of that in ${taken}`, 'use a different name')),
        ...affects
          .filter((each) => !known.has(each))
          .map(
            (each): Diagnostic => ({
              code: 'change-claims-nothing',
              severity: 'error',
              message: `${id}: ${next.version} has no ${each}`,
              place,
              hint: 'correct the names in its lenses',
            }),
          ),
      ]
    })
  })
}
