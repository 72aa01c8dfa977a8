/** Creates the schemas of a new resource, and its identifier parameter. */
import type { OperationKind } from '../resource-view.ts'
import { type Insertion, indent, type PathKey, writeYaml, type YamlText } from '../yaml-blocks.ts'
import { editOf, type ResourceNames, upper, withArticle } from './names.ts'
import type { Neighbour } from './neighbour.ts'
import type { YamlNode } from './nodes.ts'
import type { ResourceRequest } from './request.ts'

export function insertComponents(
  yaml: YamlText,
  document: YamlNode,
  neighbour: Neighbour,
  request: ResourceRequest,
  names: ResourceNames,
): Insertion[] {
  const wants = (kind: OperationKind) => request.operations.includes(kind)
  const longer = request.prefix.length - neighbour.prefix.length
  const renamed = (from: string) => (value: unknown, path: readonly PathKey[], isKey: boolean) => {
    if (isKey) return value === from ? names.references.get(from) : undefined
    return /^m(in|ax)Length$/.test(String(path.at(-1))) ? Number(value) + longer : undefined
  }
  const parameter = ['components', 'parameters', neighbour.idParameter]
  const id = ['components', 'schemas', neighbour.idSchema]
  const taken = [
    ...commonProperties(document),
    ...request.properties,
    ...(wants('archive') ? ['status'] : []),
  ]
  const shapes = [
    wants('create') ? neighbour.create : undefined,
    wants('update') ? neighbour.update : undefined,
    neighbour.schema,
  ].flatMap((name) => (name === undefined ? [] : [shape(yaml, name, taken, names)]))
  if (wants('list') && neighbour.list !== undefined) {
    const { list } = neighbour
    shapes.push(yaml.copy(['components', 'schemas', list], editOf(names, renamed(list))))
  }
  const ends = [neighbour.schema, neighbour.list, neighbour.create, neighbour.update].flatMap((name) =>
    name === undefined ? [] : [yaml.range(['components', 'schemas', name]).end],
  )
  return [
    {
      at: yaml.range(parameter).end,
      text: `\n\n${yaml.copy(parameter, editOf(names, renamed(neighbour.idParameter)))}`,
    },
    { at: yaml.range(id).end, text: `\n\n${yaml.copy(id, editOf(names, renamed(neighbour.idSchema)))}` },
    { at: Math.max(...ends), text: shapes.map((block) => `\n\n${block}`).join('') },
  ]
}

/** Returns properties that most records of the document have with the same type: `id`, `object`, `created`. */
function commonProperties(document: YamlNode): string[] {
  const schemas = Object.values((document.components as YamlNode).schemas as Record<string, YamlNode>)
  const records = schemas
    .map((schema) => (schema.properties ?? {}) as Record<string, YamlNode>)
    .filter(({ id, object }) => id !== undefined && object?.const !== undefined && object.const !== 'event')
  const counts = new Map<string, number>()
  for (const record of records) {
    for (const [name, node] of Object.entries(record)) {
      const type = `${name} ${['id', 'object'].includes(name) ? '' : JSON.stringify(node.$ref ?? node.type)}`
      counts.set(type, (counts.get(type) ?? 0) + 1)
    }
  }
  const common = [...counts].filter(([, count]) => count * 2 > records.length)
  return common.map(([type]) => type.slice(0, type.indexOf(' ')))
}

/** Copies a schema with some of its properties. */
function shape(yaml: YamlText, name: string, taken: readonly string[], names: ResourceNames): string {
  const path = ['components', 'schemas', name]
  const schema = yaml.value(path) as YamlNode
  const properties = Object.keys(schema.properties as YamlNode)
  const kept = properties.filter((property) => taken.includes(property))
  const copied = kept.map((property) => yaml.copy([...path, 'properties', property], editOf(names)))
  const isPatch = name.endsWith('Update')
  const description = isPatch
    ? `Changes to ${names.say(`a ${names.noun}`)}, as a merge patch.`
    : schema.required !== undefined && (schema.properties as YamlNode).id !== undefined
      ? `${upper(withArticle(names.noun))}.`
      : `Properties of a new ${names.noun}.`
  const required = ((schema.required ?? []) as string[]).filter((each) => kept.includes(each))
  const [example] = (schema.examples ?? []) as YamlNode[]
  const shown = Object.entries(example ?? {}).filter(([member]) => kept.includes(member))
  const rest = Object.keys(schema).filter(
    (key) => !['type', 'description', 'required', 'properties', 'examples'].includes(key),
  )
  return [
    `    ${names.references.get(name)}:`,
    '      type: object',
    `      description: ${writeYaml(description)}`,
    ...rest.map((key) => yaml.copy([...path, key], editOf(names))),
    ...(required.length > 0 ? [`      required: [${required.join(', ')}]`] : []),
    ...(copied.length > 0 ? ['      properties:', ...copied] : []),
    ...(shown.length > 0 ? ['      examples:', indent(writeYaml([Object.fromEntries(shown)]), 8)] : []),
  ].join('\n')
}
