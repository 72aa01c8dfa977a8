/** Rewrites of values → the statements that carry them out. */

import { identifier } from '../../ir/naming.ts'
import { literal, member, propertyKey, stringLiteral } from '../../print/literal.ts'
import type { LensAt, Member, Rewrite, Test, Without } from '../../translate/model.ts'

/** What code of one direction may refer to. */
export interface Scope {
  readonly direction: 'up' | 'down'
  /** The function of a pair of components. */
  call(key: string): string
  /** The change that holds a lens, imported. */
  change(at: LensAt): string
  /** A table declared once in the file. */
  table(hint: string, code: string): string
  /** One of the functions that go along a path, imported. */
  path(name: 'take' | 'put' | 'without'): string
  /** A function for an inner part. @param body its statements, of `value`. */
  hoist(hint: string, body: readonly string[]): string
}

/** Statements of a function of `value` that returns the rewritten value. @param hint its name, for what is declared beside it. */
export function bodyOf(rewrite: Rewrite, scope: Scope, hint: string): string[] {
  if (rewrite.kind === 'object' && scope.direction === 'up')
    return changeInPlace(rewrite.members, scope, hint)
  if (rewrite.kind === 'all') {
    const names = rewrite.parts.map((part, index) =>
      scope.hoist(`${hint}_${index + 1}`, bodyOf(part, scope, hint)),
    )
    return [`return ${names.reduce((inner, name) => `${name}(${inner})`, 'value')}`]
  }
  if (rewrite.kind === 'instead')
    return [`if (value === null) return ${literal(rewrite.value)}`, ...bodyOf(rewrite.rewrite, scope, hint)]
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
  scope: Scope,
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
  const puts = moves.flatMap(({ target, rewrite, nullable, made }, index) => {
    const at = `moved_${index}`
    const value = expression(rewrite, at, scope, identifier(`${hint}_${target.join('_')}`))
    const code = guarded(nullable && rewrite.kind !== 'turn' && rewrite.kind !== 'names', at, value)
    const put = scope.path('put')
    return [
      `if (${at} !== undefined) next = ${put}(next, ${literal(target)}, ${code})`,
      ...made.map(
        (path) =>
          `if (${scope.path('take')}(next, ${literal(path)}) === undefined) next = ${put}(next, ${literal(path)}, {})`,
      ),
    ]
  })
  return [...takes, `let next = ${left}`, ...puts, 'return next']
}

/** An expression for the rewritten value of the expression `at`. */
function expression(rewrite: Rewrite, at: string, scope: Scope, hint: string): string {
  switch (rewrite.kind) {
    case 'same':
      return at
    case 'call':
      return `${scope.call(rewrite.key)}(${at})`
    case 'names':
      return named(rewrite.names, at, scope, hint)
    case 'turn': {
      const code = `${lens(rewrite.by, scope)}.${scope.direction}(${at})`
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

const lens = (by: LensAt, scope: Scope): string => `${scope.change(by)}.lenses[${by.index}]`

const arrowBody = (code: string): string => (code.startsWith('{') ? `(${code})` : code)

const guarded = (maybe: boolean, at: string, code: string): string =>
  maybe && code !== at ? `${at} && ${code}` : code

function named(names: ReadonlyMap<string, string>, at: string, scope: Scope, hint: string): string {
  const entries = [...names].map(([from, to]) => `[${stringLiteral(from)}, ${stringLiteral(to)}]`)
  const table = scope.table(`${hint}_names`, `new Map<unknown, string>([${entries.join(', ')}])`)
  return `(${table}.get(${at}) ?? ${at})`
}

function without({ by, added }: Without, scope: Scope, hint: string): string {
  const table = scope.table(`${hint}_added`, `new Set<unknown>(${literal([...added])})`)
  return `(item: Value) => !${table}.has(item${by === undefined ? '' : member(by)})`
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

/** `name` or `['odd name']`, after an optional chain. */
const bracket = (name: string): string => member(name).replace(/^\./, '')

/** A copy with the changed members: what is copied stays untouched, for others may hold it. */
function copyOf(members: readonly Member[], at: string, scope: Scope, hint: string): string {
  const printed = members.flatMap((each) => copiedMembers(each, at, scope, hint))
  return `{ ...${at}, ${printed.join(', ')} }`
}

/** Members of the literal for one that changes. */
function copiedMembers(each: Member, at: string, scope: Scope, hint: string): string[] {
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
        `...${lens(each.by, scope)}.down(${at})`,
      ]
    case 'fill': {
      const value = `${at}${member(each.name)}`
      const code = changed({ ...each, kind: 'change' }, value, scope, hint)
      const isMissing = `${value} === ${each.of === 'null' ? 'null' : 'undefined'}`
      return [`${propertyKey(each.name)}: ${isMissing} ? ${literal(each.value)} : ${code}`]
    }
    case 'make':
      return [`${propertyKey(each.name)}: ${lens(each.by, scope)}.down!(${at})`]
    case 'default':
      return []
  }
}

function changed(
  { name, optional, rewrite, takesNull }: Extract<Member, { kind: 'change' }>,
  at: string,
  scope: Scope,
  hint: string,
): string {
  const code = expression(rewrite, at, scope, identifier(`${hint}_${name}`))
  if (takesNull) return optional ? `${at} === undefined ? undefined : ${code}` : code
  // Tables and turns see to null and absence themselves.
  return guarded(optional && rewrite.kind !== 'names' && rewrite.kind !== 'turn', at, code)
}

type Move = Extract<Member, { kind: 'move' }>

function moved({ to, by, rewrite, optional }: Move, at: string, scope: Scope, hint: string): string {
  if (!by)
    return rewrite ? changed({ kind: 'change', name: to, optional: true, rewrite }, at, scope, hint) : at
  const code = `${lens(by, scope)}.${scope.direction}!(${at})`
  return optional ? `${at} === undefined ? undefined : ${code}` : code
}

/** Requests belong to nobody else: they are changed in place, but for properties that must not be there any more. */
function changeInPlace(members: readonly Member[], scope: Scope, hint: string): string[] {
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
  for (const each of members) lines.push(...statements(each, target, locals, scope, hint))
  return [...lines, `return ${target}`]
}

const localOf = (name: string, index: number): string =>
  /^(next|value)$/.test(name) || identifier(name) !== name ? `old_${index}` : name

function statements(
  each: Member,
  target: string,
  locals: ReadonlyMap<string, string>,
  scope: Scope,
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
      return [`if (${at} === ${missing}) ${at} = ${literal(each.value)}${other}`]
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
      const present = given.map((name) => `${name} !== undefined`).join(' || ')
      return [`if (${present}) Object.assign(${target}, ${lens(each.by, scope)}.up({ ${shown.join(', ')} }))`]
    }
    case 'default': {
      const at = `${target}${member(each.name)}`
      return [`if (${at} === undefined) ${at} = ${literal(each.value)}`]
    }
    default:
      return []
  }
}
