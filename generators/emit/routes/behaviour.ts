/** Emits the behavior that differs between versions: its type, and the row of each version. */
import { behavioursOf } from '../../change/behaviour.ts'
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Api, OutputFile } from '../../ir/model.ts'
import { createFile, type TypeScriptFile } from '../../print/file.ts'
import { docComment, literal, propertyKey } from '../../print/literal.ts'

const FILE = 'behaviour.ts'

export interface EmittedBehaviour {
  readonly files: readonly OutputFile[]
  /** Returns the literal of a version's row, or undefined if no change is about behavior. */
  rowOf(api: Api): string | undefined
  /** Returns the type of all names, imported from the output folder `root`, or undefined if there are none. */
  useNames(file: TypeScriptFile, root: string): string | undefined
}

/** @param apis oldest first. */
export function emitBehaviour(apis: readonly Api[], changes: readonly LoadedChange[]): EmittedBehaviour {
  const all = behavioursOf(changes)
  if (all.length === 0) return { files: [], rowOf: () => undefined, useNames: () => undefined }
  const order = new Map(apis.map(({ version }, index) => [version, index]))
  const file = createFile([])
  const members = all.map(({ name, change: { version, why } }) => {
    const comment = docComment(`Since ${version}. ${why}`, '  ')
    return `${comment}  readonly ${propertyKey(name)}: boolean`
  })
  file.print(
    '/** Behavior that differs between versions: false in versions before the one that introduced it. */',
    'export interface Behaviour {',
    ...members,
    '}',
  )
  return {
    files: [{ path: FILE, text: file.text() }],
    rowOf: ({ version }) =>
      literal(
        Object.fromEntries(
          all.map(({ name, change }) => [
            name,
            order.get(version)! >= order.get(change.version)! || `${change.version}/${change.id}`,
          ]),
        ),
      ),
    useNames: (file, root) => `keyof ${file.use('Behaviour', `${root}/${FILE}`, { type: true })}`,
  }
}
