/** Prints rewrites as statements. */

import type { LoadedChange } from '../../change/load-changes.ts'
import { identifier } from '../../ir/naming.ts'
import { literal, member, propertyKey, stringLiteral } from '../../print/literal.ts'
import type { HiddenMembers, LensAt, Rewrite, ShapeMember, Test } from '../../translate/model.ts'

/** What generated code of one direction can refer to. */
export interface CodeScope {
  readonly direction: 'up' | 'down'
  /** Returns the name of a component pair's function. */
  call(key: string): string
  /** Imports the change that declares a lens, and returns its name. */
  change(at: LensAt): string
  /** Declares a table once in the file, and returns its name. */
  table(hint: string, code: string): string
  /** Imports a function for paths, and returns its name. */
  path(name: 'take' | 'put' | 'without'): string
  /**
   * Imports a function that records changes. Returns the start of a call, with the change's name: `touched('…/…',
   * `.
   */
  noting(name: Noting, change: LoadedChange): string
  /**
   * Declares a function for an inner part, and returns its name.
   *
   * @param body its statements; the argument is `value`.
   */
  hoist(hint: string, body: readonly string[]): string
}

/**
 * Returns the statements of a function that rewrites its argument `value`.
 *
 * @param hint its name, for names of declarations in it.
 */
export function bodyOf(rewrite: Rewrite, scope: CodeScope, hint: string): string[] {
  if (rewrite.kind === 'object' && scope.direction === 'up')
    return changeInPlace(rewrite.members, scope, hint)
  if (rewrite.kind === 'all') {
    const names = rewrite.parts.map((part, index) =>
      scope.hoist(`${hint}_${index + 1}`, bodyOf(part, scope, hint)),
    )
    return [`return ${names.reduce((inner, name) => `${name}(${inner})`, 'value')}`]
  }
  if (rewrite.kind === 'instead')
    return [
      `if (value === null) return ${touched(rewrite, literal(rewrite.value), scope)}`,
      ...bodyOf(rewrite.rewrite, scope, hint),
    ]
  if (rewrite.kind === 'relocate') return relocated(rewrite, scope, hint)
  if (rewrite.kind === 'choice') {
    return [
      ...rewrite.cases.flatMap(({ test, rewrite: each }) =>
        each.kind === 'same' || !test
          ? []
          : [`if (${testOf(test, 'value')}) return ${expression(each, 'value', scope, hint)}`],
      ),
      'return value',
    ]
  }
  return [`return ${expression(rewrite, 'value', scope, hint)}`]
}

function relocated(
  { inner, moves }: Extract<Rewrite, { kind: 'relocate' }>,
  scope: CodeScope,
  hint: string,
): string[] {
  const takes = moves.map(
    ({ source }, index) => `const moved_${index} = ${scope.path('take')}(value, ${literal(source)})`,
  )
  const rest = expression(inner, 'value', scope, `${hint}_rest`)
  const left = moves.reduce(
    (code, { source }) => `${scope.path('without')}(${code}, ${literal(source)})`,
    rest,
  )
  const puts = moves.flatMap((move, index) => {
    const { target, rewrite, nullable, made } = move
    const at = `moved_${index}`
    const value = expression(rewrite, at, scope, identifier(`${hint}_${target.join('_')}`))
    const code = guarded(nullable && rewrite.kind !== 'turn' && rewrite.kind !== 'names', at, value)
    const put = scope.path('put')
    return [
      `if (${at} !== undefined) next = ${put}(next, ${literal(target)}, ${touched(move, code, scope)})`,
      ...made.map(
        (path) =>
          `if (${scope.path('take')}(next, ${literal(path)}) === undefined) next = ${put}(next, ${literal(path)}, {})`,
      ),
    ]
  })
  return [...takes, `let next = ${left}`, ...puts, 'return next']
}

/** Returns an expression for the rewritten value of the expression `at`. */
function expression(rewrite: Rewrite, at: string, scope: CodeScope, hint: string): string {
  switch (rewrite.kind) {
    case 'same':
      return at
    case 'call':
      return `${scope.call(rewrite.key)}(${at})`
    case 'names':
      return named(rewrite, at, scope, hint)
    case 'turn': {
      const made = `${lens(rewrite.by, scope)}.${scope.direction}(${at})`
      const code = `${scope.noting('turned', rewrite.by.change)}${at}, ${made})`
      return rewrite.nullish ? `(${at} == null ? ${at} : ${code})` : code
    }
    case 'list': {
      const item = guarded(rewrite.nullable, 'item', expression(rewrite.item, 'item', scope, `${hint}_item`))
      const kept = rewrite.without ? `${at}.filter(${without(rewrite.without, scope, hint)})` : at
      return item === 'item' ? kept : `${kept}.map((item: Value) => ${arrowBody(item)})`
    }
    case 'map': {
      const value = guarded(
        rewrite.nullable,
        'each',
        expression(rewrite.value, 'each', scope, `${hint}_value`),
      )
      const named = rewrite.except.map((name) => `key === ${stringLiteral(name)}`).join(' || ')
      const entry = `[key, ${named ? `${named} ? each : ${value}` : value}]`
      return `Object.fromEntries(Object.entries(${at}).map(([key, each]: [string, Value]) => ${entry}))`
    }
    case 'object':
      if (scope.direction === 'down') return copyOf(rewrite.members, at, scope, hint)
      return `${scope.hoist(hint, bodyOf(rewrite, scope, hint))}(${at})`
    default:
      return `${scope.hoist(hint, bodyOf(rewrite, scope, hint))}(${at})`
  }
}

const lens = (by: LensAt, scope: CodeScope): string => `${scope.change(by)}.lenses[${by.index}]`

/** Wraps code so that the change is recorded when it applies. */
const touched = ({ change }: { readonly change: LoadedChange }, code: string, scope: CodeScope): string =>
  `${scope.noting('touched', change)}${code})`

const arrowBody = (code: string): string => (code.startsWith('{') ? `(${code})` : code)

const guarded = (maybe: boolean, at: string, code: string): string =>
  maybe && code !== at ? `${at} && ${code}` : code

function named(
  { names, change }: Extract<Rewrite, { kind: 'names' }>,
  at: string,
  scope: CodeScope,
  hint: string,
): string {
  const entries = [...names].map(([from, to]) => `[${stringLiteral(from)}, ${stringLiteral(to)}]`)
  const table = scope.table(`${hint}_names`, `${scope.noting('renames', change)}[${entries.join(', ')}])`)
  return `${table}(${at})`
}

function without({ by, added, change }: HiddenMembers, scope: CodeScope, hint: string): string {
  const shown = scope.table(`${hint}_shown`, `${scope.noting('allBut', change)}${literal([...added])})`)
  return `(item: Value) => ${shown}(item${by === undefined ? '' : member(by)})`
}

function testOf(test: Test, at: string): string {
  switch (test.kind) {
    case 'tag':
      return test.values.map((value) => `${at}?.${bracket(test.property)} === ${literal(value)}`).join(' || ')
    case 'some':
      return test.tests.map((each) => `(${testOf(each, at)})`).join(' || ')
    case 'has':
      return `${at}?.${bracket(test.property)} !== undefined`
    case 'type':
      if (test.type === 'array') return `Array.isArray(${at})`
      if (test.type === 'object')
        return `typeof ${at} === 'object' && ${at} !== null && !Array.isArray(${at})`
      return `typeof ${at} === '${test.type}'`
  }
}

/** Returns `name` or `['odd name']`, for use after an optional chain. */
const bracket = (name: string): string => member(name).replace(/^\./, '')

/** Copies the object with the changed members. The original may be referenced elsewhere, so it is not modified. */
function copyOf(members: readonly ShapeMember[], at: string, scope: CodeScope, hint: string): string {
  const printed = members.flatMap((each) => copiedMembers(each, at, scope, hint))
  return `{ ...${at}, ${printed.join(', ')} }`
}

/** Returns the literal's members for one changed property. */
function copiedMembers(each: ShapeMember, at: string, scope: CodeScope, hint: string): string[] {
  switch (each.kind) {
    case 'remove':
      return [`${propertyKey(each.name)}: undefined`]
    case 'change': {
      const value = `${at}${member(each.name)}`
      const code = changed(each, value, scope, hint)
      return [`${propertyKey(each.name)}: ${code}`]
    }
    case 'move': {
      const value = `${at}${member(each.from)}`
      const code = moved(each, value, scope, hint)
      return [`${propertyKey(each.from)}: undefined`, `${propertyKey(each.to)}: ${code}`]
    }
    case 'group':
      return [
        ...each.from.map((name) => `${propertyKey(name)}: undefined`),
        `...${scope.noting('touchedIf', each.by.change)}${present(each.from, at)}, ${lens(each.by, scope)}.down(${at}))`,
      ]
    case 'fill': {
      const value = `${at}${member(each.name)}`
      const code = changed({ ...each, kind: 'change' }, value, scope, hint)
      const isMissing = `${value} === ${each.of === 'null' ? 'null' : 'undefined'}`
      return [
        `${propertyKey(each.name)}: ${isMissing} ? ${touched(each, literal(each.value), scope)} : ${code}`,
      ]
    }
    case 'make':
      return [`${propertyKey(each.name)}: ${touched(each.by, `${lens(each.by, scope)}.down!(${at})`, scope)}`]
    case 'default':
      return []
  }
}

function changed(
  { name, optional, rewrite, takesNull }: Extract<ShapeMember, { kind: 'change' }>,
  at: string,
  scope: CodeScope,
  hint: string,
): string {
  const code = expression(rewrite, at, scope, identifier(`${hint}_${name}`))
  if (takesNull) return optional ? `${at} === undefined ? undefined : ${code}` : code
  // Tables and lens functions handle null and absence themselves.
  return guarded(optional && rewrite.kind !== 'names' && rewrite.kind !== 'turn', at, code)
}

/** Returns a condition that any of the properties is present. */
const present = (names: readonly string[], at: string): string =>
  names.map((name) => `${at}${member(name)} !== undefined`).join(' || ')

type MoveMember = Extract<ShapeMember, { kind: 'move' }>

function moved(move: MoveMember, at: string, scope: CodeScope, hint: string): string {
  const { to, by, rewrite, optional } = move
  if (!by) {
    const kept = { kind: 'change', name: to, optional: true } as const
    return touched(move, rewrite ? changed({ ...kept, rewrite }, at, scope, hint) : at, scope)
  }
  const code = touched(move, `${lens(by, scope)}.${scope.direction}!(${at})`, scope)
  return optional ? `${at} === undefined ? undefined : ${code}` : code
}

/**
 * Requests are not referenced elsewhere, so they are modified in place, except for properties that must be removed.
 */
function changeInPlace(members: readonly ShapeMember[], scope: CodeScope, hint: string): string[] {
  const gone = members.flatMap((each) =>
    each.kind === 'remove'
      ? [each.name]
      : each.kind === 'move'
        ? [each.from]
        : each.kind === 'group'
          ? each.from
          : [],
  )
  const target = gone.length > 0 ? 'next' : 'value'
  const locals = new Map(gone.map((name, index) => [name, gone.length > 0 ? localOf(name, index) : name]))
  const taken = gone.map((name) =>
    propertyKey(name) === locals.get(name) ? name : `${propertyKey(name)}: ${locals.get(name)}`,
  )
  const lines = gone.length > 0 ? [`const { ${taken.join(', ')}, ...next } = value`] : []
  for (const each of members)
    if (each.kind === 'remove' && each.change)
      lines.push(`${scope.noting('ignored', each.change)}${locals.get(each.name)})`)
  for (const each of members) lines.push(...statements(each, target, locals, scope, hint))
  return [...lines, `return ${target}`]
}

const localOf = (name: string, index: number): string =>
  /^(next|value)$/.test(name) || identifier(name) !== name ? `old_${index}` : name

function statements(
  each: ShapeMember,
  target: string,
  locals: ReadonlyMap<string, string>,
  scope: CodeScope,
  hint: string,
): string[] {
  switch (each.kind) {
    case 'change': {
      const at = `${target}${member(each.name)}`
      const code = expression(each.rewrite, at, scope, identifier(`${hint}_${each.name}`))
      const missing = each.takesNull ? '!== undefined' : '!= null'
      return [`${each.optional ? `if (${at} ${missing}) ` : ''}${at} = ${code}`]
    }
    case 'fill': {
      const at = `${target}${member(each.name)}`
      const code = expression(each.rewrite, at, scope, identifier(`${hint}_${each.name}`))
      const missing = each.of === 'null' ? 'null' : 'undefined'
      const other = code === at ? '' : ` else if (${at} !== undefined) ${at} = ${code}`
      return [`if (${at} === ${missing}) ${at} = ${touched(each, literal(each.value), scope)}${other}`]
    }
    case 'move': {
      const from = locals.get(each.from)!
      const code = moved({ ...each, optional: false }, from, scope, hint)
      return [`${each.optional ? `if (${from} !== undefined) ` : ''}${target}${member(each.to)} = ${code}`]
    }
    case 'group': {
      const given = each.from.map((name) => locals.get(name)!)
      const shown = each.from.map((name, index) =>
        propertyKey(name) === given[index] ? name : `${propertyKey(name)}: ${given[index]}`,
      )
      const isGiven = given.map((name) => `${name} !== undefined`).join(' || ')
      const made = touched(each.by, `${lens(each.by, scope)}.up({ ${shown.join(', ')} })`, scope)
      return [`if (${isGiven}) Object.assign(${target}, ${made})`]
    }
    case 'default': {
      const at = `${target}${member(each.name)}`
      return [`if (${at} === undefined) ${at} = ${touched(each, literal(each.value), scope)}`]
    }
    default:
      return []
  }
}

/** Functions that record where a change applies. */
export type Noting = 'touched' | 'touchedIf' | 'turned' | 'ignored' | 'renames' | 'meanings' | 'allBut'
