/** Adds a resource to a document, modeled on an existing one (the neighbor). */
import { type Insertion, insertAll, YamlText } from '../yaml-blocks.ts'
import { insertComponents } from './components.ts'
import { insertEvents } from './events.ts'
import { namesOf } from './names.ts'
import { checkRequest, type Neighbour, readNeighbour } from './neighbour.ts'
import type { YamlNode } from './nodes.ts'
import { insertPaths, insertTag } from './operations.ts'
import type { NewResource, ResourceRequest } from './request.ts'

/**
 * Adds a resource to the text of a document.
 *
 * @throws ResourceError
 */
export function addResource(source: string, request: ResourceRequest): NewResource {
  const yaml = new YamlText(source)
  const document = yaml.value([]) as YamlNode
  const neighbour = readNeighbour(document, request.like)
  checkRequest(document, neighbour, request)
  const names = namesOf(neighbour, request)
  const insertions = [
    ...insertTag(yaml, document, request, names),
    insertPaths(yaml, neighbour, request, names),
    ...insertEvents(yaml, document, neighbour, request, names),
    ...insertComponents(yaml, document, neighbour, request, names),
  ]
  const text = insertAll(source, insertions)
  return { text, blocks: blocksOf(source, insertions), lists: listsOf(yaml, neighbour) }
}

/** Returns the lines of enumerations that list the neighbor's kind of record. */
function listsOf(yaml: YamlText, { object }: Neighbour): number[] {
  return [...yaml.find('enum')].flatMap(({ path, node }) => {
    const values = yaml.value(path)
    const [offset = 0] = node.range ?? []
    return Array.isArray(values) && values.includes(object) ? [yaml.line(offset)] : []
  })
}

/** Returns the first and last line of each insertion, in the resulting text. */
function blocksOf(source: string, insertions: readonly Insertion[]): (readonly [number, number])[] {
  let added = 0
  return insertions
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, text }) => {
      const before = source.slice(0, at).split('\n').length + added
      const lines = text.split('\n').length - 1
      added += lines
      const blank = text.match(/^\n*/)![0].length
      return [before + blank, before + lines] as const
    })
}
