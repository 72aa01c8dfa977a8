/** Prints rewrites as statements. */

import type { LoadedChange } from '../../change/load-changes.ts'
import { identifier } from '../../ir/naming.ts'
import type { MappedType } from '../../ir/type-mapping.ts'
import { literal, member, propertyKey, stringLiteral } from '../../print/literal.ts'
import type { HiddenMembers, LensAt, Rewrite, ShapeMember, Test } from '../../translate/model.ts'

/** Functions of `dateline/runtime/values`. */
type Decoder = 'toBigint' | 'toDate' | 'toInstant' | 'toPlainDate'

const DECODERS: Readonly<Record<MappedType, Decoder>> = {
  bigint: 'toBigint',
  Date: 'toDate',
  'Temporal.Instant': 'toInstant',
  'Temporal.PlainDate': 'toPlainDate',
}

/** Names that generated code of one direction can refer to. */
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
   * Imports a function that records changes. Returns the start of a call, up to the name of the change, for example
   * `touched('2030-06-01/name-books', `.
   */
  noting(name: Noting, change: LoadedChange): string
  /** Imports a function of `dateline/runtime/touched` and returns its local name. */
  use(name: 'holding' | Decoder): string
  /** Whether only null is kept as it is where null is allowed. Otherwise, other falsy values are too: they never change. */
  readonly decodes?: true
  /**
   * Declares a function for an inner part, and returns its name.
   *
   * @param body its statements; the argument is `value`.
   */
  hoist(hint: string, body: readonly string[]): string
  /** The type annotation of a parameter; empty if its type is inferred. */
  annotation(): string
}

/**
 * Returns the statements of a function that rewrites its argument `value`.
 *
 * @param hint its name, for names of declarations in it.
 */
export function bodyOf(rewrite: Rewrite, scope: CodeScope, hint: string): string[] {
  if (rewrite.kind === 'object') return printCopy(copyOf(rewrite.members, 'value', scope, hint))
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
    const code = guarded(nullable && rewrite.kind !== 'turn' && rewrite.kind !== 'names', at, value, scope)
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
    case 'decode':
      return `${scope.use(DECODERS[rewrite.type])}(${at})`
    case 'names':
      return named(rewrite, at, scope, hint)
    case 'turn': {
      const made = `${lens(rewrite.by, scope)}.${scope.direction}(${at})`
      const code = `${scope.noting('turned', rewrite.by.change)}${at}, ${made})`
      return rewrite.nullish ? `(${at} == null ? ${at} : ${code})` : code
    }
    case 'list': {
      const item = guarded(
        rewrite.nullable,
        'item',
        expression(rewrite.item, 'item', scope, `${hint}_item`),
        scope,
      )
      const kept = rewrite.without ? `${at}.filter(${without(rewrite.without, scope)})` : at
      return item === 'item' ? kept : `${kept}.map((item${scope.annotation()}) => ${arrowBody(item)})`
    }
    case 'wrap': {
      const item = `[${expression(rewrite.inner, at, scope, `${hint}_item`)}]`
      return rewrite.empty === null ? `(${at} === null ? [] : ${item})` : item
    }
    case 'first': {
      const item = expression(rewrite.inner, `${at}[0]!`, scope, `${hint}_item`)
      return `(${at}.length === 0 ? ${rewrite.empty === undefined ? 'undefined' : literal(rewrite.empty)} : ${item})`
    }
    case 'map': {
      const value = guarded(
        rewrite.nullable,
        'each',
        expression(rewrite.value, 'each', scope, `${hint}_value`),
        scope,
      )
      const named = rewrite.except.map((name) => `key === ${stringLiteral(name)}`).join(' || ')
      const entry = `[key, ${named ? `${named} ? each : ${value}` : value}]`
      return `Object.fromEntries(Object.entries(${at}).map(([key, each]${scope.annotation() === '' ? '' : ': [string, Value]'}) => ${entry}))`
    }
    case 'object': {
      const copy = copyOf(rewrite.members, at, scope, hint)
      if (copy.taken.size === 0) return `{ ${[`...${at}`, ...copy.members].join(', ')} }`
      return `${scope.hoist(hint, bodyOf(rewrite, scope, hint))}(${at})`
    }
    default:
      return `${scope.hoist(hint, bodyOf(rewrite, scope, hint))}(${at})`
  }
}

const lens = (by: LensAt, scope: CodeScope): string => `${scope.change(by)}.lenses[${by.index}]`

/** Wraps code so that the change is recorded when it applies. */
const touched = ({ change }: { readonly change: LoadedChange }, code: string, scope: CodeScope): string =>
  `${scope.noting('touched', change)}${code})`

const arrowBody = (code: string): string => (code.startsWith('{') ? `(${code})` : code)

function guarded(maybe: boolean, at: string, code: string, { decodes }: CodeScope): string {
  if (!maybe || code === at) return code
  return decodes ? `${at} === null ? null : ${code}` : `${at} && ${code}`
}

function named(
  { names, change }: Extract<Rewrite, { kind: 'names' }>,
  at: string,
  scope: CodeScope,
  hint: string,
): string {
  const entries = [...names].map(([from, to]) => `[${stringLiteral(from)}, ${stringLiteral(to)}]`)
  const table = scope.table(`rename_${hint}`, `${scope.noting('renames', change)}[${entries.join(', ')}])`)
  return `${table}(${at})`
}

function without({ by, kinds, added, change }: HiddenMembers, scope: CodeScope): string {
  const isKnown = scope.table(
    `isKnown${identifier(kinds)}`,
    `${scope.noting('allBut', change)}${literal([...added])})`,
  )
  return by === undefined ? isKnown : `${scope.use('holding')}(${stringLiteral(by)}, ${isKnown})`
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

/** A copy of an object with changed members. The original is not modified, because other values may refer to it. */
interface ObjectCopy {
  /** The object that is copied. */
  readonly at: string
  /** Variable names of the properties that are not copied unchanged. */
  readonly taken: ReadonlyMap<string, string>
  /** Statements before the literal. */
  readonly statements: readonly string[]
  /** Members of the literal, after the copied ones. */
  readonly members: readonly string[]
}

function copyOf(members: readonly ShapeMember[], at: string, scope: CodeScope, hint: string): ObjectCopy {
  const names = [...new Set(members.flatMap(takenBy))]
  const taken = new Map(names.map((name, index) => [name, localOf(name, index)]))
  const read = (name: string) => taken.get(name) ?? `${at}${member(name)}`
  const statements = members.flatMap((each) =>
    each.kind === 'remove' && each.change
      ? [`${scope.noting('ignored', each.change)}${read(each.name)})`]
      : [],
  )
  const defaults = new Set(
    scope.direction === 'up' ? members.flatMap((each) => (each.kind === 'default' ? [each.name] : [])) : [],
  )
  const printed = members.flatMap((each) => {
    if (each.kind === 'change' && defaults.has(each.name)) return []
    if (each.kind !== 'default') return printMember(each, at, read, scope, hint)
    return defaults.has(each.name) ? [printDefault(each, members, read, scope, hint)] : []
  })
  return { at, taken, statements, members: printed }
}

/** Names of properties that the copy must omit, always or if they are absent. */
function takenBy(each: ShapeMember): readonly string[] {
  switch (each.kind) {
    case 'remove':
      return [each.name]
    case 'move':
      return [each.from]
    case 'group':
      return each.from
    case 'change':
      return each.optional ? [each.name] : []
    case 'fill':
      return each.optional && each.of === 'null' ? [each.name] : []
    case 'default':
    case 'make':
      return []
  }
}

function printCopy({ at, taken, statements, members }: ObjectCopy): string[] {
  if (taken.size === 0) return [...statements, `return { ${[`...${at}`, ...members].join(', ')} }`]
  const pattern = [...taken].map(([name, local]) =>
    propertyKey(name) === local ? name : `${propertyKey(name)}: ${local}`,
  )
  const rest = members.length === 0 ? 'rest' : `{ ${['...rest', ...members].join(', ')} }`
  return [`const { ${[...pattern, '...rest'].join(', ')} } = ${at}`, ...statements, `return ${rest}`]
}

/** Names that the generated functions use for themselves. */
const OWN_LOCALS = /^(?:value|rest|next|touched|turned|ignored|holding|take|put|without)$/

const localOf = (name: string, index: number): string =>
  OWN_LOCALS.test(name) || identifier(name) !== name ? `old_${index}` : name

/** A member that is present only if the value is. */
const ifPresent = (optional: boolean, at: string, name: string, code: string): string => {
  const own = at === name ? propertyKey(name) : `${propertyKey(name)}: ${code}`
  const entry = code === at ? own : `${propertyKey(name)}: ${code}`
  return optional ? `...(${at} !== undefined && { ${entry} })` : `${propertyKey(name)}: ${code}`
}

/**
 * Returns the literal's members for a property that changes.
 *
 * @param read returns code for the value of a property.
 */
function printMember(
  each: Exclude<ShapeMember, { kind: 'default' }>,
  at: string,
  read: (name: string) => string,
  scope: CodeScope,
  hint: string,
): string[] {
  switch (each.kind) {
    case 'remove':
      return []
    case 'change': {
      const value = read(each.name)
      return [ifPresent(each.optional, value, each.name, changed(each, value, scope, hint))]
    }
    case 'move': {
      const value = read(each.from)
      return [ifPresent(each.optional, value, each.to, moved(each, value, scope, hint))]
    }
    case 'group': {
      const given = each.from.map((name) => {
        const value = read(name)
        return propertyKey(name) === value ? name : `${propertyKey(name)}: ${value}`
      })
      const made = `${lens(each.by, scope)}.${scope.direction}({ ${given.join(', ')} })`
      const isGiven = each.from.map((name) => `${read(name)} !== undefined`).join(' || ')
      return [`...((${isGiven}) && ${touched(each.by, made, scope)})`]
    }
    case 'fill': {
      const value = read(each.name)
      const isMissing = `${value} === ${each.of === 'null' ? 'null' : 'undefined'}`
      const rewritten = changed(
        { ...each, kind: 'change', nullable: each.nullable && each.of !== 'null' },
        value,
        scope,
        hint,
      )
      const code = `${isMissing} ? ${touched(each, literal(each.value), scope)} : ${rewritten}`
      return [ifPresent(each.optional && each.of === 'null', value, each.name, code)]
    }
    case 'make':
      return [`${propertyKey(each.name)}: ${touched(each.by, `${lens(each.by, scope)}.down!(${at})`, scope)}`]
  }
}

/** Prints the default of a property that a request omits. A property that is present stays unchanged. */
function printDefault(
  { name, value, change }: Extract<ShapeMember, { kind: 'default' }>,
  members: readonly ShapeMember[],
  read: (name: string) => string,
  scope: CodeScope,
  hint: string,
): string {
  const at = read(name)
  const kept = members.find((each) => each.kind === 'change' && each.name === name)
  const code = kept?.kind === 'change' ? changed(kept, at, scope, hint) : at
  return `${propertyKey(name)}: ${at} === undefined ? ${touched({ change }, literal(value), scope)} : ${code}`
}

/** Returns code for the rewritten value of a property that is present. */
function changed(
  { name, nullable, rewrite, takesNull }: Extract<ShapeMember, { kind: 'change' }>,
  at: string,
  scope: CodeScope,
  hint: string,
): string {
  const known: Rewrite = rewrite.kind === 'turn' ? { ...rewrite, nullish: nullable } : rewrite
  const code = expression(known, at, scope, identifier(`${hint}_${name}`))
  // Tables and lens functions handle null themselves.
  const keepsNull = nullable && !takesNull && !/^(names|turn|wrap)$/.test(rewrite.kind)
  return guarded(keepsNull, at, code, scope)
}

type MoveMember = Extract<ShapeMember, { kind: 'move' }>

function moved(move: MoveMember, at: string, scope: CodeScope, hint: string): string {
  const { to, by, rewrite } = move
  if (by) return touched(move, `${lens(by, scope)}.${scope.direction}!(${at})`, scope)
  const kept = { kind: 'change', name: to, optional: false, nullable: true } as const
  return touched(move, rewrite ? changed({ ...kept, rewrite }, at, scope, hint) : at, scope)
}

/** Functions that record where a change applies. */
export type Noting = 'touched' | 'turned' | 'ignored' | 'renames' | 'meanings' | 'allBut'
