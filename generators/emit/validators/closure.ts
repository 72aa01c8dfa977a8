/** Hashes the nodes of a graph, each with everything that it reaches, in time linear in nodes and edges. */
import { createHash } from 'node:crypto'
import { compare } from '../../print/file.ts'

export interface GraphNode {
  /** Everything that distinguishes the node itself. */
  readonly text: string
  readonly refs: Iterable<string>
}

export interface Closure {
  /** Equal for nodes with equal texts that reach equal nodes. */
  readonly hash: string
  /** Whether the node is on a cycle or reaches one. */
  readonly cyclic: boolean
}

/**
 * Uses Tarjan's strongly connected components: nodes that refer to each other are hashed together, after everything
 * that they reach.
 */
export function closures(nodes: ReadonlyMap<string, GraphNode>): Map<string, Closure> {
  const found = new Map<string, Closure>()
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const open = new Set<string>()
  const refsOf = (name: string) =>
    [...new Set(nodes.get(name)!.refs)].filter((ref) => nodes.has(ref)).sort(compare)

  const visit = (name: string): void => {
    order.set(name, order.size)
    low.set(name, order.get(name)!)
    stack.push(name)
    open.add(name)
    for (const ref of refsOf(name)) {
      if (!order.has(ref)) {
        visit(ref)
        low.set(name, Math.min(low.get(name)!, low.get(ref)!))
      } else if (open.has(ref)) low.set(name, Math.min(low.get(name)!, order.get(ref)!))
    }
    if (low.get(name) !== order.get(name)) return
    const members: string[] = []
    for (let last: string | undefined; last !== name; ) {
      last = stack.pop()!
      open.delete(last)
      members.push(last)
    }
    settle(members.sort(compare))
  }

  const settle = (members: readonly string[]): void => {
    const hash = createHash('sha256')
    const together = new Set(members)
    let cyclic = members.length > 1
    for (const name of members) {
      const refs = refsOf(name)
      const outside = refs.filter((ref) => !together.has(ref))
      cyclic ||= refs.includes(name) || outside.some((ref) => found.get(ref)!.cyclic)
      hash.update(JSON.stringify([name, nodes.get(name)!.text, outside.map((ref) => found.get(ref)!.hash)]))
    }
    const digest = hash.digest('hex')
    for (const name of members)
      found.set(name, { hash: members.length === 1 ? digest : `${name} ${digest}`, cyclic })
  }

  for (const name of nodes.keys()) if (!order.has(name)) visit(name)
  return found
}
