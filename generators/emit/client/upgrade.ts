/** Emits what the `upgrade` command of the client package knows about the steps between versions. */
import { counterpartsOf, holdsIn, isAbout, renamesOf, sameName } from '../../change/align.ts'
import type { LoadedChange } from '../../change/load-changes.ts'
import type {
  HeaderRule,
  OperationRule,
  SiteRule,
  UpgradeManifest,
  UpgradeStep,
} from '../../client-upgrade/rules.ts'
import { claimDifferences } from '../../gate/steps.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'

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
      return stepOf({ old: apis[index]!, next, changes: own }, managed)
    }),
  }
}

interface Pair {
  readonly old: Api
  readonly next: Api
  readonly changes: readonly LoadedChange[]
}

type Rules<Rule> = Map<string, Rule[]>

function stepOf(pair: Pair, managed: readonly string[]): UpgradeStep {
  const { old, next, changes } = pair
  const lenses = changes.flatMap((change) => change.lenses)
  const counterparts = counterpartsOf(old, next, lenses)
  const sites: Rules<SiteRule> = new Map()
  const operations: Rules<OperationRule> = new Map()
  const headers: HeaderRule[] = []
  for (const operation of old.operations)
    for (const [to, from] of renamesOf(operation, counterparts.get(operation.id) ?? operation, lenses)) {
      const parameter = operation.parameters.find((each) => each.name === from)!
      const id = counterparts.get(operation.id)?.id ?? operation.id
      // The names of placeholders in a path may differ without a change.
      const change = changes.find((each) =>
        each.lenses.some(
          (lens) => lens.kind === 'renamed-parameter' && isAbout(lens, id, parameter.in, from),
        ),
      )
      add(sites, `${operation.id} ${parameter.in}.${from}`, {
        kind: 'rename',
        to,
        ...(change && { change: change.id }),
      })
    }
  const found = { counterparts, sites, operations, headers, managed }
  for (const change of changes) addRules(change, pair, found)
  return {
    from: old.version,
    to: next.version,
    changes: Object.fromEntries(changes.map(({ id, why }) => [id, why])),
    sites: Object.fromEntries(sites),
    operations: Object.fromEntries(operations),
    headers,
  }
}

function add<Rule>(rules: Rules<Rule>, key: string, rule: Rule): void {
  rules.set(key, [...(rules.get(key) ?? []), rule])
}

interface FoundRules {
  /** Operations of the newer version by their id in the older one. */
  readonly counterparts: ReadonlyMap<string, ApiOperation>
  readonly sites: Rules<SiteRule>
  readonly operations: Rules<OperationRule>
  readonly headers: HeaderRule[]
  readonly managed: readonly string[]
}

function addRules(change: LoadedChange, pair: Pair, found: FoundRules): void {
  const { counterparts, sites, operations, headers, managed } = found
  const by = { change: change.id }
  /** Operations of the older version that a lens lists by their new ids; all if it lists none. */
  const listed = (ids: readonly string[]) =>
    pair.old.operations.filter(({ id }) => holdsIn(ids, counterparts.get(id)?.id ?? id))
  const look = (site: string) => add(sites, site, { kind: 'look', ...by })
  const lookAtCalls = (ids: Iterable<string>) => {
    for (const id of ids) add(operations, id, { kind: 'look', ...by })
  }
  /** Uses that no rule of a lens covers are found by the operations that the differences concern. */
  const lookAtUses = () => {
    const { old, next, changes } = pair
    const claimed = claimDifferences(old, next, changes).filter((each) => each.by.includes(change))
    const uses = new Set(claimed.flatMap(({ difference }) => difference.uses))
    lookAtCalls(listed([]).flatMap(({ id }) => (uses.has(counterparts.get(id)?.id ?? id) ? [id] : [])))
  }
  for (const lens of change.lenses) {
    const owners = 'schemas' in lens ? lens.schemas.map((site) => oldSite(site, counterparts)) : []
    const on = (property: string | undefined, rule: SiteRule) => {
      for (const owner of owners) add(sites, property === undefined ? owner : `${owner}.${property}`, rule)
    }
    const parameters = (name: string, rule: SiteRule) => {
      if (!('in' in lens)) return
      for (const { id, parameters } of listed(lens.operations))
        for (const each of parameters)
          if (each.in === lens.in && sameName(lens.in, newNameOf(id, each.name), name))
            add(sites, `${id} ${lens.in}.${each.name}`, rule)
    }
    const newNameOf = (id: string, name: string) => {
      const rules = sites.get(`${id} ${'in' in lens ? lens.in : ''}.${name}`) ?? []
      return rules.find((rule) => rule.kind === 'rename')?.to ?? name
    }
    switch (lens.kind) {
      case 'values':
        on(lens.property, { kind: 'members', rename: lens.rename, split: splitOf(lens.merge), ...by })
        break
      case 'rename':
        on(lens.from, lens.up || lens.down ? { kind: 'look', ...by } : { kind: 'rename', to: lens.to, ...by })
        break
      case 'moved':
        on(
          lens.from.join('.'),
          lens.up || lens.down
            ? { kind: 'look', ...by }
            : { kind: 'move', from: lens.from, to: lens.to, ...by },
        )
        break
      case 'replace':
        for (const name of lens.old) on(name, { kind: 'look', ...by })
        break
      case 'convert':
      case 'drop':
      case 'leave-out':
        on(lens.property, { kind: 'look', ...by })
        break
      case 'default':
        on(undefined, { kind: 'add', name: lens.property, value: lens.value, ...by })
        break
      case 'optional':
      case 'nullable':
        on(lens.property, { kind: 'fallback', value: lens.value, ...by })
        break
      case 'non-null':
        on(lens.property, { kind: 'never-null', value: lens.value, ...by })
        break
      case 'filter':
        for (const { id } of listed([lens.operation])) look(`${id} query.${lens.parameter}`)
        break
      case 'renamed-parameter':
        break
      case 'converted-parameter':
      case 'ignored-parameter':
        parameters(lens.name, { kind: 'look', ...by })
        break
      case 'default-parameter':
        if (lens.in === 'header' && managed.includes(lens.name.toLowerCase())) break
        for (const { id } of listed(lens.operations))
          add(operations, id, {
            kind: 'add-parameter',
            in: lens.in,
            name: lens.name,
            value: lens.value,
            ...by,
          })
        break
      case 'served':
        add(operations, lens.from, { kind: 'rename', to: lens.by, ...by })
        break
      case 'status':
        for (const { id, responses } of listed(lens.operations))
          if (responses.some(({ status }) => status === lens.from))
            add(operations, id, { kind: lens.from.startsWith('2') ? 'status' : 'look', ...by })
        break
      case 'required-header':
        if (!managed.includes(lens.header.toLowerCase())) lookAtUses()
        break
      case 'renamed-header':
        headers.push({ from: lens.from, to: lens.to, ...by })
        break
      default:
        lookAtUses()
    }
  }
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
