/** Creates the tag and the operations of a new resource. */
import { camelCase } from '../../ir/naming.ts'
import type { OperationKind } from '../resource-view.ts'
import type { Insertion, PathKey, ScalarEdit, YamlText } from '../yaml-blocks.ts'
import { editOf, type ResourceNames, upper, withArticle } from './names.ts'
import type { Neighbour } from './neighbour.ts'
import { componentOf, parametersOf, type YamlNode } from './nodes.ts'
import type { ResourceRequest } from './request.ts'

export function insertTag(
  yaml: YamlText,
  document: YamlNode,
  { name, like }: ResourceRequest,
  { plural }: ResourceNames,
): Insertion[] {
  const insertions: Insertion[] = []
  const tags = document.tags as { name: string }[]
  const index = tags.findIndex((tag) => tag.name === like)
  if (index !== -1) {
    const edit: ScalarEdit = (value, path, isKey) => {
      if (isKey) return undefined
      const key = path.at(-1)
      return key === 'name'
        ? name
        : key === 'x-displayName'
          ? upper(plural)
          : key === 'description'
            ? `Create and manage ${plural}.`
            : value
    }
    insertions.push({ at: yaml.range(['tags', index]).end, text: `\n${yaml.copy(['tags', index], edit)}` })
  }
  const groups = (document['x-tagGroups'] ?? []) as { tags: string[] }[]
  for (const [group, { tags: members }] of groups.entries()) {
    const place = members.indexOf(like)
    if (place === -1) continue
    const path: PathKey[] = ['x-tagGroups', group, 'tags']
    if (yaml.isFlow(path)) insertions.push({ at: yaml.scalarEnd([...path, place]), text: `, ${name}` })
    else
      insertions.push({
        at: yaml.range([...path, place]).end,
        text: `\n${yaml.copy([...path, place], () => name)}`,
      })
  }
  return insertions
}

export function insertPaths(
  yaml: YamlText,
  neighbour: Neighbour,
  request: ResourceRequest,
  names: ResourceNames,
): Insertion {
  const items = new Map<string, string[]>()
  for (const kind of KINDS.filter((each) => request.operations.includes(each))) {
    const { path, method, node } = neighbour.operations.get(kind)!
    const at = ['paths', path, method]
    const success = Object.keys((node.responses ?? {}) as YamlNode).find((status) => status.startsWith('2'))
    const edit = editOf(names, (value, where, isKey) => {
      if (isKey) return undefined
      const key = where.slice(at.length).join('/')
      if (key === 'operationId') return operationId(String(value), kind, names)
      if (key === 'description') return describe(kind, names)
      if (success !== undefined && key === `responses/${success}/description`) return names.say(String(value))
      return request.extensions[key]
    })
    const parameters = parametersOf(node)
    const filters = parameters.flatMap((parameter, index) =>
      isFilter(yaml, parameter) ? [[...at, 'parameters', index]] : [],
    )
    // `parameters` without items would be null, so the key is removed; operation defaults may still add parameters.
    const removed =
      filters.length > 0 && filters.length === parameters.length ? [[...at, 'parameters']] : filters
    const target = path
      .replace(neighbour.collection, names.path)
      .replace(`{${neighbour.idName}}`, `{${names.idName}}`)
    items.set(target, [...(items.get(target) ?? []), yaml.copy(at, edit, removed)])
  }
  const text = [...items].map(([path, methods]) => `\n\n  ${path}:\n${methods.join('\n\n')}`).join('')
  const ends = [...neighbour.operations.values()].map(({ path }) => yaml.range(['paths', path]).end)
  return { at: Math.max(...ends), text }
}

const KINDS: readonly OperationKind[] = ['create', 'list', 'get', 'update', 'archive']

function operationId(id: string, kind: OperationKind, { pascal, pascals }: ResourceNames): string {
  return camelCase(`${id.match(/^[a-z]+/)?.[0] ?? kind} ${kind === 'list' ? pascals : pascal}`)
}

function describe(kind: OperationKind, { noun, plural }: ResourceNames): string {
  if (kind === 'create') return `Creates ${withArticle(noun)}.`
  if (kind === 'list') return `${upper(plural)}, newest first.`
  if (kind === 'get') return `One ${noun}.`
  if (kind === 'update') return 'Updates the given properties.'
  return `Archives ${withArticle(noun)}. This cannot be undone.`
}

/** Filters refer to the neighbor's own properties, so they are not copied. */
function isFilter(yaml: YamlText, parameter: YamlNode): boolean {
  const name = componentOf(parameter)
  const node = name === undefined ? parameter : (yaml.value(['components', 'parameters', name]) as YamlNode)
  return node['x-filter'] !== undefined
}
