/** Checks the examples of changes: each must fit both documents and translate to its counterpart. */
import { isDeepStrictEqual } from 'node:util'
import type { Example } from '../change/change.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { Diagnostic } from '../diagnostics/diagnostic.ts'
import { escapePointer } from '../document/escape-pointer.ts'
import { FORMAT_CHECKS } from '../ir/formats.ts'
import type { Api, Schema } from '../ir/model.ts'
import { componentsIn } from '../ir/walk.ts'
import { explain } from '../runtime/explain.ts'
import { applyRewrite } from '../translate/apply.ts'
import type { Direction } from '../translate/model.ts'
import { createStep } from '../translate/step.ts'

/**
 * Checks the examples of changes.
 *
 * @param old, next adjacent versions.
 * @param changes the changes that `next` introduced.
 * @returns a finding for each wrong example.
 */
export function checkExamples(old: Api, next: Api, changes: readonly LoadedChange[]): Diagnostic[] {
  if (changes.every((change) => (change.examples ?? []).length === 0)) return []
  const directions = directionsOf(old, next)
  return changes.flatMap((change) =>
    (change.examples ?? []).flatMap((example, index) => {
      const complain = (message: string, hint: string): Diagnostic => ({
        code: 'change-example',
        severity: 'error',
        message: `${change.file}: example ${index + 1} (${example.schema}) ${message}`,
        hint,
        ...placeOf(example, next),
      })
      const mismatches = [...mismatch(example, 'old', old), ...mismatch(example, 'new', next)]
      if (mismatches.length > 0) {
        return mismatches.map((each) => complain(each, 'correct the example or the document'))
      }
      if (example.only && !change.lenses.some((lens) => 'loss' in lens && lens.loss !== undefined)) {
        return complain(
          'has `only`, but no lens of the change declares a loss',
          'declare what is lost with `loss`',
        )
      }
      return directions(example.schema)
        .filter((direction) => example.only === undefined || example.only === direction)
        .flatMap((direction) => mistranslation(example, direction, old, next, changes))
        .map((each) =>
          complain(
            each,
            'correct the lens or the example; if the opposite direction loses information, set `only`',
          ),
        )
    }),
  )
}

function placeOf({ schema }: Example, next: Api): Pick<Diagnostic, 'place'> {
  const place = next.schemas.get(schema)?.place
  return place ? { place } : {}
}

function mismatch(example: Example, side: 'old' | 'new', api: Api): string[] {
  if (!api.schemas.has(example.schema)) return [`names a schema that ${api.version} does not have`]
  const pointer = `/components/schemas/${escapePointer(example.schema)}`
  return explain(api.document, pointer, example[side], FORMAT_CHECKS, 3).map(
    ({ field, issue }) => `does not fit ${api.version}: \`${side}\`${field && `, ${field}`} ${issue}`,
  )
}

function mistranslation(
  example: Example,
  direction: Direction,
  old: Api,
  next: Api,
  changes: readonly LoadedChange[],
): string[] {
  const step = createStep(direction, old, next, changes)
  const ref = (api: Api): Schema => ({
    ...api.schemas.get(example.schema)!,
    nullable: false,
    kind: 'ref',
    name: example.schema,
  })
  const rewrite = step.pair(ref(old), ref(next))
  const [given, wanted] = direction === 'up' ? [example.old, example.new] : [example.new, example.old]
  const got = applyRewrite(rewrite, structuredClone(given), { direction, functions: step.functions })
  if (isDeepStrictEqual(got, wanted)) return []
  return [`translates ${direction} to ${JSON.stringify(got)}; expected ${JSON.stringify(wanted)}`]
}

/**
 * Returns the directions in which a component is translated: up in request bodies, down in responses and events,
 * and both if no operation or event uses it.
 */
export function directionsOf(old: Api, next: Api): (component: string) => Direction[] {
  const [up, down] = [new Set<string>(), new Set<string>()]
  for (const api of [old, next]) {
    for (const operation of api.operations) {
      for (const { schema } of operation.body?.contents ?? []) reach(schema, api, up)
      for (const { schema } of operation.parameters) reach(schema, api, up)
      for (const { contents } of operation.responses)
        for (const { schema } of contents) reach(schema, api, down)
    }
    for (const { payload } of api.events) if (payload) reach(payload.schema, api, down)
  }
  return (component) => {
    const found = [
      ...(up.has(component) ? ['up' as const] : []),
      ...(down.has(component) ? ['down' as const] : []),
    ]
    return found.length > 0 ? found : ['up', 'down']
  }
}

/** Adds every component that a schema refers to, directly or indirectly. */
export function reach(schema: Schema, api: Api, reached: Set<string>): void {
  for (const name of componentsIn(schema)) {
    const target = api.schemas.get(name)
    if (reached.has(name) || !target) continue
    reached.add(name)
    reach(target, api, reached)
  }
}
