/** Adds the union of all webhook bodies to a document, for the many code generators that skip its `webhooks` section. */
import type { Api } from '../../ir/model.ts'
import { constantsOf } from '../../ir/tags.ts'

/** Name of the added schema. */
const NAME = 'WebhookEvent'

interface Components {
  readonly schemas?: Readonly<Record<string, unknown>>
}

/**
 * Returns the document with one more component schema, a union that a constant property discriminates, so that a
 * generated client can read any delivery by its type. No part of the document refers to the schema.
 *
 * @param document a form of the API's document, for example as it was written.
 * @returns the document unchanged if no property tells the bodies apart, or if a schema has the name already.
 */
export function withWebhookUnion(
  document: Readonly<Record<string, unknown>>,
  api: Api,
): Readonly<Record<string, unknown>> {
  const mapping = mappingOf(api)
  const components = document.components as Components | undefined
  if (!mapping || api.schemas.has(NAME)) return document
  const union = {
    description: 'The body of any webhook.',
    oneOf: Object.values(mapping.bodies).map(($ref) => ({ $ref })),
    discriminator: { propertyName: mapping.property, mapping: mapping.bodies },
  }
  return { ...document, components: { ...components, schemas: { ...components?.schemas, [NAME]: union } } }
}

/** Returns the property that tells the bodies apart, and the bodies by its values. */
function mappingOf(api: Api) {
  const bodies = api.events.flatMap(({ payload }) => (payload?.schema.kind === 'ref' ? [payload.schema] : []))
  const first = api.schemas.get(bodies[0]?.name ?? '')
  if (bodies.length < Math.max(api.events.length, 2) || first?.kind !== 'object') return undefined
  for (const { name: property } of first.properties) {
    const values = bodies.flatMap((body) => {
      const constants = constantsOf(api, body, property)
      return constants.length === 1 ? [[constants[0]!, `#/components/schemas/${body.name}`] as const] : []
    })
    if (values.length === bodies.length && new Map(values).size === bodies.length)
      return { property, bodies: Object.fromEntries(values) }
  }
  return undefined
}
