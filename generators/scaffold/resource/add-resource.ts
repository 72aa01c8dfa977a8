/** A resource in a document: made after a neighbour, so that nothing about it is invented. */
import { type Insertion, insertAll, YamlText } from '../yaml-blocks.ts'
import { insertComponents } from './components.ts'
import { insertEvents } from './events.ts'
import { namesOf } from './names.ts'
import { checkRequest, type Neighbour, readNeighbour } from './neighbour.ts'
import type { YamlNode } from './nodes.ts'
import { insertPaths, insertTag } from './operations.ts'
import type { NewResource, ResourceRequest } from './request.ts'

/** @throws ResourceError */
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

/** Lists of other schemas that name the neighbour's kind of record. */
function listsOf(yaml: YamlText, { object }: Neighbour): number[] {
  return [...yaml.find('enum')].flatMap(({ path, node }) => {
    const values = yaml.value(path)
    const [offset = 0] = node.range ?? []
    return Array.isArray(values) && values.includes(object) ? [yaml.line(offset)] : []
  })
}

/** First and last lines of what was put in, in the text that has all of it. */
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
