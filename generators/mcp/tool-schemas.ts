/** Prints the schemas of a document as JSON Schemas for tools: with descriptions and examples, and with all that they refer to. */
import { escapePointer } from '../document/escape-pointer.ts'
import { type FinishSchema, toJsonSchema } from '../emit/validators/json-schema.ts'
import type { Api, JsonSchema, Schema } from '../ir/model.ts'

type SchemaObject = Exclude<JsonSchema, boolean>

export interface SchemaPrinter {
  /** Prints a schema. `notes` are added to those of the schema itself. */
  print(
    schema: Schema,
    notes?: { readonly description?: string | undefined; readonly examples?: readonly unknown[] },
  ): SchemaObject
  /** Returns `$defs` with every component that a printed schema refers to; empty if there is none. */
  definitions(): { readonly $defs?: Readonly<Record<string, JsonSchema>> }
}

/**
 * @param direction readers of answers accept more than the document says: further properties, and further members of
 *   open enumerations.
 */
export function createSchemaPrinter(api: Api, direction: 'request' | 'answer'): SchemaPrinter {
  const found = new Set<string>()
  const refer = (component: string) => {
    found.add(component)
    return `#/$defs/${encodeURIComponent(escapePointer(component))}`
  }
  const finish: FinishSchema = (printed, schema) => {
    if (printed === false) return printed
    // Clients expect an object for each schema. Values of a discriminator are members of the schemas themselves.
    const { discriminator: _, ...rules }: SchemaObject = printed === true ? {} : printed
    const { enum: members, additionalProperties, ...open } = rules
    const isOpen = direction === 'answer' && schema.kind === 'enum' && schema.open
    return {
      ...(schema.description !== undefined && { description: schema.description }),
      ...open,
      ...(members !== undefined && (isOpen ? { examples: members } : { enum: members })),
      ...(additionalProperties !== undefined &&
        !(direction === 'answer' && additionalProperties === false) && { additionalProperties }),
      // Models read examples to write arguments. In answers they would only make the list of tools longer.
      ...(direction === 'request' && schema.examples.length > 0 && { examples: schema.examples }),
      ...(schema.default !== undefined && { default: schema.default }),
    }
  }
  return {
    print(schema, { description, examples = [] } = {}) {
      const printed = toJsonSchema(schema, refer, finish)
      return {
        ...(printed === false ? { not: {} } : (printed as SchemaObject)),
        ...(description !== undefined && { description }),
        ...(examples.length > 0 && { examples }),
      }
    },
    definitions() {
      const $defs: Record<string, JsonSchema> = {}
      // A component can refer to others, which are added to the set while it is iterated.
      for (const name of found) $defs[name] = toJsonSchema(api.schemas.get(name)!, refer, finish)
      return found.size > 0 ? { $defs } : {}
    },
  }
}
