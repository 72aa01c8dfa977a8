/** Emits what the `upgrade` command of the client package knows about the steps between versions. */
import {
  alignApi,
  counterpartsOf,
  holdsIn,
  isAbout,
  pairOperations,
  renamesOf,
  sameName,
  servedIds,
} from '../../change/align.ts'
import type { Lens, SchemaLens } from '../../change/change.ts'
import type { LoadedChange } from '../../change/load-changes.ts'
import type {
  HeaderRule,
  MethodRow,
  OperationRule,
  SiteRule,
  UpgradeManifest,
  UpgradeStep,
} from '../../client-upgrade/rules.ts'
import { type AccountedDifference, claimDifferences } from '../../gate/steps.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { resourceMethods } from '../../ir/resource-methods.ts'
import { paramsPart, pathArguments } from '../wire/arguments.ts'
import { renamedSchemas } from './renamed-schemas.ts'
import { resourceTypes } from './resources.ts'

/**
 * Returns the content of `upgrade.json`.
 *
 * @param apis oldest first.
 * @param managed header parameters that the client sends automatically, in lowercase.
 */
export function upgradeManifest(
  name: string,
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  managed: readonly string[],
): UpgradeManifest {
  return {
    package: name,
    versions: apis.map(({ version }) => version),
    steps: apis.slice(1).map((next, index) => {
      const own = changes.filter((change) => change.version === next.version)
      const old = apis[index]!
      let claimed: readonly AccountedDifference[] | undefined
      return stepOf({
        ...{ old, next, changes: own, managed },
        claimed: () => (claimed ??= claimDifferences(old, next, own)),
      })
    }),
    methods: methodsOf(apis),
  }
}

/** Returns how programs call the operations of each version, without what the version before it has too. */
function methodsOf(apis: readonly Api[]): UpgradeManifest['methods'] {
  const known = new Map<string, string>()
  return Object.fromEntries(
    apis.map((api) => {
      const { paramsOf } = resourceTypes(api)
      const rows = api.operations.map((operation) => [operation.id, rowOf(api, operation, paramsOf)] as const)
      const fresh = rows.filter(([id, row]) => known.get(id) !== JSON.stringify(row))
      for (const [id, row] of fresh) known.set(id, JSON.stringify(row))
      return [api.version, Object.fromEntries(fresh)]
    }),
  )
}

function rowOf(api: Api, operation: ApiOperation, paramsOf: ReadonlyMap<string, string>): MethodRow {
  const { resource, method } = resourceMethods(api).get(operation.id)!
  const path = pathArguments(operation).map(({ name }) => name)
  const part = paramsPart(api, operation)
  const params = paramsOf.get(operation.id)
  return {
    method: [...resource, method],
    ...(path.length > 0 && { path }),
    ...(part && { part }),
    ...(params !== undefined && { params }),
  }
}

/** Two adjacent versions, and the changes that the newer one introduced. */
interface Step {
  readonly old: Api
  readonly next: Api
  readonly changes: readonly LoadedChange[]
  readonly managed: readonly string[]
  /** Compares the documents on the first call, because few lenses need it. */
  readonly claimed: () => readonly AccountedDifference[]
}

/** A rule with the key that it has in the manifest. */
type Keyed<Rule> = readonly [key: string, rule: Rule]

function stepOf(step: Step): UpgradeStep {
  const { old, next, changes } = step
  const lenses = changes.flatMap((change) => change.lenses)
  const counterparts = counterpartsOf(old, next, lenses)
  const pairs = pairOperations(alignApi(old, lenses), next, servedIds(lenses))
  // An id that differs on the same route is no change of the API, but names a function of the client.
  const operations = [...pairs].flatMap(([{ id: to }, { id }]): Keyed<OperationRule>[] =>
    id === to ? [] : [[id, { kind: 'rename', to }]],
  )
  const renumbered = new Map([...pairs].map(([later, { id }]) => [id, later]))
  const sites: Keyed<SiteRule>[] = old.operations.flatMap((operation) => {
    const later = counterparts.get(operation.id) ?? renumbered.get(operation.id)
    return later ? renamedParameters(operation, later, changes) : []
  })
  const headers: HeaderRule[] = []
  for (const change of changes) {
    const by = { change: change.id }
    for (const lens of change.lenses) {
      if ('schemas' in lens) {
        const rules = schemaRules(lens)
        for (const owner of lens.schemas.map((site) => oldSite(site, counterparts)))
          for (const [property, rule] of rules)
            sites.push([property === undefined ? owner : `${owner}.${property}`, { ...rule, ...by }])
      } else if (lens.kind === 'renamed-header') headers.push({ from: lens.from, to: lens.to, ...by })
      else {
        const found = requestRules(lens, change, step, counterparts)
        sites.push(...found.sites.map(([site, rule]): Keyed<SiteRule> => [site, { ...rule, ...by }]))
        operations.push(
          ...found.operations.map(([id, rule]): Keyed<OperationRule> => [id, { ...rule, ...by }]),
        )
      }
    }
  }
  return {
    from: old.version,
    to: next.version,
    changes: Object.fromEntries(
      changes.filter((change) => !isOfClient(change, step)).map(({ id, why }) => [id, why]),
    ),
    sites: byKey(sites),
    operations: byKey(operations),
    schemas: renamedSchemas(old, next, pairs),
    headers,
  }
}

function byKey<Rule>(rules: readonly Keyed<Rule>[]): Readonly<Record<string, readonly Rule[]>> {
  const grouped: Record<string, Rule[]> = {}
  for (const [key, rule] of rules) grouped[key] = [...(grouped[key] ?? []), rule]
  return grouped
}

/** Returns whether a change only asks for what the client does without its caller. */
const isOfClient = ({ lenses }: LoadedChange, { managed }: Step): boolean =>
  lenses.every((lens) => lens.kind === 'required-header' && managed.includes(lens.header.toLowerCase()))

/** The names of placeholders in a path may differ without a change. */
function renamedParameters(
  operation: ApiOperation,
  next: ApiOperation,
  changes: readonly LoadedChange[],
): Keyed<SiteRule>[] {
  const lenses = changes.flatMap((change) => change.lenses)
  return [...renamesOf(operation, next, lenses)].map(([to, from]) => {
    const { in: where } = operation.parameters.find((each) => each.name === from)!
    const change = changes.find((each) =>
      each.lenses.some((lens) => lens.kind === 'renamed-parameter' && isAbout(lens, next.id, where, from)),
    )
    return [`${operation.id} ${where}.${from}`, { kind: 'rename', to, ...(change && { change: change.id }) }]
  })
}

const LOOK = { kind: 'look' } as const

/** Returns the rules of a lens on objects, by property; by undefined for the object itself. */
function schemaRules(lens: SchemaLens): readonly (readonly [property: string | undefined, rule: SiteRule])[] {
  // A function converts what the new name or place has, which no edit of a program shows.
  const isConverted = 'up' in lens && (lens.up !== undefined || lens.down !== undefined)
  switch (lens.kind) {
    case 'values':
      return [[lens.property, { kind: 'members', rename: lens.rename, split: splitOf(lens.merge) }]]
    case 'rename':
      return [[lens.from, isConverted ? LOOK : { kind: 'rename', to: lens.to }]]
    case 'moved':
      return [[lens.from.join('.'), isConverted ? LOOK : { kind: 'move', from: lens.from, to: lens.to }]]
    case 'replace':
      return lens.old.map((name) => [name, LOOK])
    case 'default':
      return [[undefined, { kind: 'add', name: lens.property, value: lens.value }]]
    case 'optional':
    case 'nullable':
      return [[lens.property, { kind: 'fallback', value: lens.value }]]
    case 'non-null':
      return [[lens.property, { kind: 'never-null', value: lens.value }]]
    case 'wrapped':
      return [[lens.from, LOOK]]
    default:
      return [[lens.property, LOOK]]
  }
}

/** Returns the rules of a lens on requests, on answers as a whole, or on nothing that has a place. */
function requestRules(
  lens: Exclude<Lens, SchemaLens>,
  change: LoadedChange,
  { old, managed, claimed }: Step,
  counterparts: ReadonlyMap<string, ApiOperation>,
): { readonly sites: readonly Keyed<SiteRule>[]; readonly operations: readonly Keyed<OperationRule>[] } {
  const newIdOf = (id: string) => counterparts.get(id)?.id ?? id
  /** Operations of the older version that a lens lists by their new ids; all if it lists none. */
  const listed = (ids: readonly string[]) => old.operations.filter(({ id }) => holdsIn(ids, newIdOf(id)))
  const onOperations = (operations: readonly ApiOperation[], rule: OperationRule) => ({
    sites: [],
    operations: operations.map(({ id }): Keyed<OperationRule> => [id, rule]),
  })
  const onParameters = (ids: readonly string[], where: string, name: string) => ({
    sites: listed(ids).flatMap((operation) => {
      const renamed = renamesOf(operation, counterparts.get(operation.id) ?? operation, change.lenses)
      return operation.parameters
        .filter((each) => each.in === where && sameName(each.in, each.name, renamed.get(name) ?? name))
        .map((each): Keyed<SiteRule> => [`${operation.id} ${where}.${each.name}`, LOOK])
    }),
    operations: [],
  })
  switch (lens.kind) {
    case 'filter':
      return onParameters([lens.operation], 'query', lens.parameter)
    case 'converted-parameter':
    case 'ignored-parameter':
      return onParameters(lens.operations, lens.in, lens.name)
    case 'renamed-parameter':
      // `renamedParameters` has found these.
      return onOperations([], LOOK)
    case 'default-parameter': {
      const isManaged = lens.in === 'header' && managed.includes(lens.name.toLowerCase())
      const { in: where, name, value } = lens
      return onOperations(isManaged ? [] : listed(lens.operations), {
        kind: 'add-parameter',
        in: where,
        name,
        value,
      })
    }
    case 'served': {
      // The new operation needs what the lens fixes.
      const rule: OperationRule = lens.fixed ? LOOK : { kind: 'rename', to: lens.by }
      return onOperations(
        old.operations.filter(({ id }) => id === lens.from),
        rule,
      )
    }
    case 'behaviour': {
      const affected = lens.affects.filter((each) => !each.startsWith('event '))
      return onOperations(affected.length > 0 ? listed(affected) : [], LOOK)
    }
    case 'status': {
      const having = listed(lens.operations).filter(({ responses }) =>
        responses.some(({ status }) => status === lens.from),
      )
      return onOperations(having, lens.from.startsWith('2') ? { kind: 'status' } : LOOK)
    }
    case 'required-header':
      if (managed.includes(lens.header.toLowerCase())) return onOperations([], LOOK)
  }
  // Other lenses concern the operations that their differences are in.
  const own = claimed().filter(({ by }) => by.includes(change))
  const uses = new Set(own.flatMap(({ difference }) => difference.uses))
  return onOperations(
    old.operations.filter(({ id }) => uses.has(newIdOf(id))),
    LOOK,
  )
}

/** Returns the site with the operation's id of the older version. */
function oldSite(site: string, counterparts: ReadonlyMap<string, ApiOperation>): string {
  const [id = '', ...rest] = site.split(' ')
  const old = [...counterparts].find(([, operation]) => operation.id === id)?.[0]
  return rest.length === 0 || old === undefined ? site : [old, ...rest].join(' ')
}

/** Returns the new members by the old member that earlier versions show in their place. */
function splitOf(merge: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  const split: Record<string, readonly string[]> = {}
  for (const [next, old] of Object.entries(merge)) split[old] = [...(split[old] ?? []), next]
  return split
}
