/** The replay of a family's versions, from its documents and changes alone. */
import { counterpartsOf } from '../change/align.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { Api } from '../ir/model.ts'
import { createTables } from '../mock/tables.ts'
import type { Translate } from '../runtime/contract.ts'
import { createReplay } from '../runtime/replay.ts'
import { applyRewrite } from '../translate/apply.ts'
import { createStep, touchedFunctions } from '../translate/step.ts'
import { answerOf, rootKey } from '../translate/transition.ts'

/**
 * @param apis the versions from the caller's to the later one, oldest first.
 * @param changes all changes of the family.
 */
export function createFamilyReplay(
  apis: readonly Api[],
  changes: readonly LoadedChange[],
): ReturnType<typeof createReplay> {
  const tables = createTables(apis, changes)
  const [first, last] = [apis[0]!, apis.at(-1)!]
  const answers = answersUp(apis, changes)
  return createReplay(
    {
      version: tables[0]!,
      document: first.document,
      translates: true,
      answerUp: (id) => answers.get(id),
    },
    { version: tables.at(-1)!, document: last.document },
  )
}

/** Returns, by id in the last version, the translations of successful answers from the first version to the last. */
function answersUp(apis: readonly Api[], changes: readonly LoadedChange[]): ReadonlyMap<string, Translate> {
  let answers = new Map(apis[0]!.operations.map(({ id }) => [id, [] as Translate[]]))
  for (const [index, next] of apis.slice(1).entries()) {
    const old = apis[index]!
    const own = changes.filter(({ version }) => version === next.version)
    const step = createStep('up', old, next, own)
    const counterparts = counterpartsOf(
      old,
      next,
      own.flatMap(({ lenses }) => lenses),
    )
    const found = old.operations.flatMap((operation) => {
      const counterpart = counterparts.get(operation.id)
      const [one, other] = [answerOf(operation), counterpart && answerOf(counterpart)]
      const before = answers.get(operation.id)
      if (!before || !counterpart) return []
      const key =
        one &&
        other &&
        rootKey(step, one, other, `${operation.id} answer`, step.pair(one, other, `${counterpart.id} answer`))
      return [{ id: counterpart.id, before, key }]
    })
    const functions = touchedFunctions(step)
    answers = new Map(
      found.map(({ id, before, key }) => {
        if (key === undefined || !functions.has(key)) return [id, before]
        const up: Translate = (value: unknown) =>
          applyRewrite({ kind: 'call', key }, value, { direction: 'up', functions })
        return [id, [...before, up]]
      }),
    )
  }
  return new Map(
    [...answers].flatMap(([id, all]) => {
      const up: Translate = (value: unknown) =>
        all.reduce<unknown>((given, each) => each(given as never), value)
      return all.length === 0 ? [] : [[id, up] as const]
    }),
  )
}
