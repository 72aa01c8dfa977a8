/** Creates the events of a new resource, and adds them to the enumerations of event types. */
import { pascalCase } from '../../ir/naming.ts'
import type { Insertion, ScalarEdit, YamlText } from '../yaml-blocks.ts'
import { editOf, type ResourceNames, upper, withArticle } from './names.ts'
import type { Neighbour } from './neighbour.ts'
import type { YamlNode } from './nodes.ts'
import type { ResourceRequest } from './request.ts'

export function insertEvents(
  yaml: YamlText,
  document: YamlNode,
  neighbour: Neighbour,
  request: ResourceRequest,
  names: ResourceNames,
): Insertion[] {
  if (request.events.length === 0) return []
  const known = [...neighbour.events]
  const [last, lastPayload] = known.at(-1)!
  const webhooks: string[] = []
  const payloads: string[] = []
  for (const verb of request.events) {
    const [model, payload] = known.find(([name]) => name.endsWith(`.${verb}`)) ?? known[0]!
    const event = `${request.singular}.${verb}`
    const schema = `${names.pascal}${pascalCase(verb)}Event`
    const edit = editOf(
      { ...names, references: new Map([...names.references, [payload, schema]]) },
      (value, path, isKey) => {
        if (isKey && value === model) return event
        if (isKey && value === payload) return schema
        if (isKey) return undefined
        const key = path.at(-1)
        if (key === 'operationId') return `on${names.pascal}${pascalCase(verb)}`
        if (value === model) return event
        if (key === 'description' && path[0] === 'webhooks') return sentenceOf(verb, names)
        return typeof value === 'string' && key !== '$ref'
          ? names.say(value.replaceAll(model, event))
          : undefined
      },
    )
    webhooks.push(`\n\n${yaml.copy(['webhooks', model], edit)}`)
    payloads.push(`\n\n${yaml.copy(['components', 'schemas', payload], edit)}`)
  }
  return [
    { at: yaml.range(['webhooks', last]).end, text: webhooks.join('') },
    { at: yaml.range(['components', 'schemas', lastPayload]).end, text: payloads.join('') },
    ...enumerations(yaml, document, last, request, names),
  ]
}

const sentenceOf = (verb: string, { noun }: ResourceNames): string =>
  `${upper(withArticle(noun))} was ${verb.replaceAll(/[._]/g, ' ')}.`

/** Adds the events to enumerations of event types and their descriptions. */
function enumerations(
  yaml: YamlText,
  document: YamlNode,
  last: string,
  { singular, events }: ResourceRequest,
  names: ResourceNames,
): Insertion[] {
  const insertions: Insertion[] = []
  const schemas = (document.components as YamlNode).schemas as Record<string, YamlNode>
  for (const [name, schema] of Object.entries(schemas)) {
    const path = ['components', 'schemas', name]
    const place = ((schema.enum ?? []) as unknown[]).indexOf(last)
    if (place === -1) continue
    const at = [...path, 'enum', place]
    for (const verb of events)
      insertions.push({ at: yaml.range(at).end, text: `\n${yaml.copy(at, () => `${singular}.${verb}`)}` })
    const described = [...path, 'x-enumDescriptions', last]
    if ((schema['x-enumDescriptions'] as YamlNode | undefined)?.[last] === undefined) continue
    for (const verb of events) {
      const edit: ScalarEdit = (_, __, isKey) => (isKey ? `${singular}.${verb}` : sentenceOf(verb, names))
      insertions.push({ at: yaml.range(described).end, text: `\n${yaml.copy(described, edit)}` })
    }
  }
  return insertions
}
