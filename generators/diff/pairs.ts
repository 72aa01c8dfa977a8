/**
 * The graph of component pairs. Each pair is compared once; the directions and operations that use it are then
 * propagated along the edges. So a component that hundreds of operations share costs one comparison.
 */

import type { SourceLocation } from '../diagnostics/place.ts'
import type { Api, Schema } from '../ir/model.ts'
import { declaredStability } from '../ir/stability.ts'
import type { DeclaredLocation } from './difference.ts'
import {
  BOTH,
  type ComparisonResult,
  type DiffFinding,
  type Edge,
  emptyResult,
  type Pair,
  places,
  RESPONSE,
} from './position.ts'
import { compareSchemas } from './schemas.ts'
import { compareStability } from './stability.ts'

/** The findings and component references of one operation or event. */
export interface Root {
  /** Operation id or event name; empty for findings that belong to neither. */
  readonly use: string
  readonly result: ComparisonResult
}

export interface Located extends DiffFinding {
  /** Directions in which the location is used. */
  readonly directions: number
  readonly uses: readonly string[]
}

interface PairNode extends Pair {
  readonly result: ComparisonResult
  directions: number
  readonly uses: Set<string>
}

/** A reference that names a different component than before. */
interface Replaced {
  readonly at: DeclaredLocation
  readonly old: SourceLocation
  readonly new: SourceLocation
  readonly pair: Pair
  readonly mask: number
  readonly from: PairNode | Root
}

/**
 * Returns every finding that an operation or event of both documents reaches, in the order in which they are
 * reached.
 */
export function findAll(old: Api, next: Api, roots: readonly Root[]): Located[] {
  const graph = createGraph(old, next)
  const reached = spread(graph, roots)
  const located: Located[] = []
  for (const { use, result } of roots)
    for (const finding of result.findings)
      located.push({ ...finding, directions: finding.mask, uses: use === '' ? [] : [use] })
  for (const node of reached) {
    for (const finding of node.result.findings) {
      const directions = finding.mask & node.directions
      if (directions !== 0) located.push({ ...finding, directions, uses: usesOf(node) })
    }
  }
  for (const each of replacedIn(roots, reached)) {
    const directions = each.mask & ('use' in each.from ? BOTH : each.from.directions)
    const finding = directions === 0 ? undefined : compareReplaced(graph, each)
    if (finding)
      located.push({ ...finding, directions, uses: 'use' in each.from ? [each.from.use] : usesOf(each.from) })
  }
  return located
}

const usesOf = (node: PairNode): readonly string[] => [...node.uses]

type Graph = (pair: Pair) => PairNode

function createGraph(old: Api, next: Api): Graph {
  const nodes = new Map<string, PairNode>()
  return (pair) => {
    const key = `${pair.old}\n${pair.new}`
    const known = nodes.get(key)
    if (known) return known
    const node: PairNode = { ...pair, result: comparePair(old, next, pair), directions: 0, uses: new Set() }
    nodes.set(key, node)
    return node
  }
}

function comparePair(old: Api, next: Api, pair: Pair): ComparisonResult {
  const result = emptyResult()
  const [a, b]: (Schema | undefined)[] = [old.schemas.get(pair.old), next.schemas.get(pair.new)]
  const locate = (path: string): DeclaredLocation => ({ kind: 'schema', component: pair.new, path })
  if (a && b) {
    const position = { old, next, result, mask: BOTH, path: '', locate }
    compareStability(position, declaredStability(a), declaredStability(b), BOTH, places(a, b))
    compareSchemas(position, a, b)
  }
  return result
}

/** Propagates directions along the edges until nothing changes, then propagates uses to the pairs with findings. */
function spread(graph: Graph, roots: readonly Root[]): Set<PairNode> {
  const reached = new Set<PairNode>()
  const waiting: { readonly edge: Edge; readonly mask: number }[] = []
  for (const { result } of roots) for (const edge of result.edges) waiting.push({ edge, mask: edge.mask })
  for (let at = 0; at < waiting.length; at++) {
    const { edge, mask } = waiting[at]!
    if (edge.replaced) continue
    const node = graph(edge.pair)
    if ((node.directions | mask) === node.directions) continue
    node.directions |= mask
    reached.add(node)
    for (const inner of node.result.edges) waiting.push({ edge: inner, mask: inner.mask & node.directions })
  }
  carryUses(graph, roots, reached)
  return reached
}

/** Propagates uses backwards from pairs with findings, so that most of the graph is never visited. */
function carryUses(graph: Graph, roots: readonly Root[], reached: ReadonlySet<PairNode>): void {
  const into = new Map<PairNode, (PairNode | Root)[]>()
  const record = (from: PairNode | Root) => {
    for (const { pair, replaced } of from.result.edges) {
      if (replaced) continue
      const node = graph(pair)
      const list = into.get(node)
      if (list) list.push(from)
      else into.set(node, [from])
    }
  }
  for (const root of roots) record(root)
  for (const node of reached) record(node)
  const order = new Map(roots.map((root, index) => [root.use, index]))
  const wanted = (node: PairNode) =>
    node.result.findings.length > 0 || node.result.edges.some((edge) => edge.replaced !== undefined)
  for (const node of reached) {
    if (!wanted(node)) continue
    const uses = new Set<string>()
    const seen = new Set<PairNode | Root>([node])
    for (const each of seen) {
      if ('use' in each) uses.add(each.use)
      else for (const from of into.get(each) ?? []) seen.add(from)
    }
    for (const use of [...uses].sort((a, b) => order.get(a)! - order.get(b)!)) node.uses.add(use)
  }
}

function replacedIn(roots: readonly Root[], reached: ReadonlySet<PairNode>): Replaced[] {
  return [...roots, ...reached].flatMap((from) =>
    from.result.edges.flatMap(({ pair, mask, replaced }) =>
      replaced ? [{ ...replaced, pair, mask, from }] : [],
    ),
  )
}

/**
 * Compares a reference that names a different component than before. It is one difference if the components allow
 * different values, and none otherwise. Inside one component, a new property is dropped by derivation; between two
 * components, nothing can be derived.
 */
function compareReplaced(
  graph: Graph,
  { at, old, new: next, pair, mask }: Replaced,
): DiffFinding | undefined {
  const seen = new Set<PairNode>([graph(pair)])
  const findings: DiffFinding[] = []
  for (const node of seen) {
    findings.push(...node.result.findings)
    for (const edge of node.result.edges) seen.add(graph(edge.pair))
  }
  if (findings.length === 0) return undefined
  const breaks = findings.reduce(
    (bits, each) => bits | each.breaks | (each.code === 'property-added' ? RESPONSE : 0),
    0,
  )
  const said = findings.slice(0, 2).map((each) => each.message)
  const rest = findings.length > 2 ? ` and ${findings.length - 2} more` : ''
  return {
    code: 'type-changed',
    at,
    message: `is ${pair.new}, not ${pair.old}: ${said.join(', ')}${rest}`,
    breaks,
    mask,
    old,
    new: next,
    components: pair,
  }
}
