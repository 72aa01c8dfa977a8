/**
 * Translates names of body fields in errors. Handlers use the canonical names, and callers see the names of their
 * version. The longest prefix that means the same in both versions is kept, because parts of a converted value have
 * no name in the other version.
 */

import { docComment, literal, regexText } from '../../print/literal.ts'
import type { PairFunction, Rewrite, ShapeMember, ValueMove } from '../../translate/model.ts'
import type { Transition } from '../../translate/transition.ts'
import type { TransitionFile } from './file.ts'

export interface FieldRule {
  /** Source of a regular expression; its first group is kept. */
  readonly pattern: string
  /** Replacement for the rest, in the format of `String.replace`. */
  readonly name: string
}

/** Returns the rules for the fields of a body, in the order in which they apply. */
export function fieldRules(key: string | undefined, { up }: Transition): FieldRule[] {
  const root = key === undefined ? undefined : up.get(key)
  return root ? rulesOf(root.rewrite, '', up, new Set([root.key])) : []
}

/** Returns the name of a field in the older version. */
export const applyFieldRules = (rules: readonly FieldRule[], field: string): string =>
  rules.reduce(
    (renamed, { pattern, name }) => renamed.replace(new RegExp(`^(${pattern}.*$`), `$1${name}`),
    field,
  )

/** Returns the name of the function for the fields of a body, or undefined if the names are equal. */
export function printFields(
  key: string | undefined,
  transition: Transition,
  file: TransitionFile,
): string | undefined {
  const root = key === undefined ? undefined : transition.up.get(key)
  const rules = fieldRules(key, transition)
  if (!root || rules.length === 0) return undefined
  const name = root.old === root.next ? root.old : `${root.next}_as_${root.old}`
  return file.declare(`${name}_field`, (declared) => [
    docComment(`Fields of ${root.next} in errors: ${file.next} → ${file.version}.`).trimEnd(),
    `export function ${declared}(value: string): string {`,
    `  return value${rules.map((rule) => `\n    .replace(/^(${rule.pattern}.*$/, ${literal(`$1${rule.name}`)})`).join('')}`,
    '}',
  ])
}

type Functions = ReadonlyMap<string, PairFunction>

/** Inner rules come first, because outer rules rename what they match. */
function rulesOf(
  rewrite: Rewrite,
  path: string,
  functions: Functions,
  inside: ReadonlySet<string>,
): FieldRule[] {
  switch (rewrite.kind) {
    case 'call': {
      const called = functions.get(rewrite.key)
      if (!called || inside.has(called.key)) return []
      return rulesOf(called.rewrite, path, functions, new Set([...inside, called.key]))
    }
    case 'list':
      return rulesOf(rewrite.item, `${path}\\[\\d+\\]`, functions, inside)
    case 'map':
      return rulesOf(rewrite.value, `${joined(path)}[^.[]+`, functions, inside)
    case 'choice':
      return rewrite.cases.flatMap((each) => rulesOf(each.rewrite, path, functions, inside))
    case 'instead':
      return rulesOf(rewrite.rewrite, path, functions, inside)
    case 'relocate':
      return [
        ...rewrite.moves.map((move) => moveRule(move, path)),
        ...rulesOf(rewrite.inner, path, functions, inside),
      ]
    case 'all':
      return rewrite.parts.flatMap((each) => rulesOf(each, path, functions, inside))
    case 'object':
      return rewrite.members
        .toSorted((a, b) => Number(b.kind === 'change') - Number(a.kind === 'change'))
        .flatMap((member) => memberRules(member, path, functions, inside))
    default:
      return []
  }
}

/** Parts of a converted value have no name in the other version. */
function moveRule({ source, target, rewrite }: ValueMove, path: string): FieldRule {
  const pattern = `${joined(path)})${target.map(regexText).join('\\.')}(?![^.[])`
  const name = replacementText(source.join('.'))
  return rewrite.kind === 'turn' ? { pattern, name } : { pattern: `${pattern}(.*)`, name: `${name}$2` }
}

function memberRules(
  member: ShapeMember,
  path: string,
  functions: Functions,
  inside: ReadonlySet<string>,
): FieldRule[] {
  switch (member.kind) {
    case 'change':
      return rulesOf(member.rewrite, joined(path) + regexText(member.name), functions, inside)
    case 'move':
      // The first item of a list is the whole value in the other version.
      if (member.rewrite?.kind === 'wrap' || member.rewrite?.kind === 'first') {
        const [item, name] = member.rewrite.kind === 'wrap' ? ['(?:\\[0\\])?', ''] : ['', '[0]']
        return [
          {
            pattern: `${joined(path)})${regexText(member.to)}${item}(?![^.[])(.*)`,
            name: `${replacementText(member.from)}${name}$2`,
          },
        ]
      }
      if (!member.by)
        return [
          {
            pattern: `${joined(path)})${regexText(member.to)}(?![^.[])(.*)`,
            name: `${replacementText(member.from)}$2`,
          },
        ]
      return [
        { pattern: `${joined(path)})${regexText(member.to)}(?![^.[])`, name: replacementText(member.from) },
      ]
    case 'group': {
      if (member.by.lens.kind !== 'replace') return []
      const [only, ...others] = member.by.lens.old
      return member.by.lens.new.map((name) =>
        others.length === 0
          ? { pattern: `${joined(path)})${regexText(name)}(?![^.[])`, name: replacementText(only ?? '') }
          : outside(path, name),
      )
    }
    case 'default':
      return member.known ? [] : [outside(path, member.name)]
    default:
      return []
  }
}

/** A field that the older version lacks is reported as its parent object. */
const outside = (path: string, name: string): FieldRule => ({
  pattern: `${path})${path === '' ? '' : '\\.'}${regexText(name)}(?![^.[])`,
  name: '',
})

const joined = (path: string): string => (path === '' ? '' : `${path}\\.`)

const replacementText = (text: string): string => text.replaceAll('$', '$$$$')
