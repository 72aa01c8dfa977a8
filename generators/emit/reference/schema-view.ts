/** Builds the views of schemas: type descriptions, constraints, and unfolded composites. */
import { membersOf } from '../../ir/members.ts'
import type { EnumSchema, ObjectSchema, Property, Schema } from '../../ir/model.ts'
import { factsOf, schemaFacts } from './facts.ts'
import { escapeHtml, html, joinHtml, type SafeHtml, scalarCode } from './html.ts'
import { renderMarkdown } from './markdown.ts'
import type { ReferencePage } from './page.ts'
import { isComposite } from './references.ts'
import type { FieldView, InsideView, SchemaView, ValueView, VariantView } from './views.ts'

/** Larger enumerations are listed only where they are described, not where they are used. */
const LISTED_MEMBERS = 12

/** Properties of a field other than its schema. */
export interface FieldSource {
  readonly id: string
  readonly name: string
  readonly schema: Schema
  readonly required?: boolean
  readonly deprecated?: boolean
  readonly description?: string | undefined
  readonly flags?: readonly string[]
}

/** @param level level of the enclosing heading. */
export function viewField(page: ReferencePage, source: FieldSource, level: number): FieldView {
  const schema = unwrap(source.schema)
  const target = schema.kind === 'ref' ? page.api.schemas.get(schema.name) : undefined
  return {
    id: page.freshAnchor(source.id),
    name: source.name,
    typeHtml: describeType(page, schema),
    required: source.required ?? false,
    deprecated: (source.deprecated ?? false) || schema.deprecated,
    flags: [
      ...(source.flags ?? []),
      ...(!page.written && isGrowing(target ?? schema) ? ['more may come'] : []),
    ],
    textHtml: renderMarkdown(source.description ?? schema.description ?? target?.description, level),
    facts: [...factsOf(schema), ...schemaFacts(schema)],
    values: valuesAt(schema, target),
    inside: insideOf(page, schema, source.id, level),
  }
}

/** Returns the view of a component's own section. */
export function viewSchema(page: ReferencePage, name: string, schema: Schema, level: number): SchemaView {
  const id = page.anchor('schema', name)
  const content = contentOf(page, schema, id, level)
  return {
    id,
    href: page.href('schema', name),
    name,
    composite: isComposite(schema),
    typeHtml: describeType(page, schema),
    textHtml: renderMarkdown(schema.description, level),
    facts: [...factsOf(schema), ...schemaFacts(schema)],
    values: schema.kind === 'enum' ? viewValues(schema) : [],
    fields: content?.fields ?? [],
    variants: content?.variants ?? [],
  }
}

/** Returns the contents of a schema, if they are described here. */
export function insideOf(
  page: ReferencePage,
  schema: Schema,
  id: string,
  level: number,
): InsideView | undefined {
  const core = coreOf(schema)
  const nested = core.kind === 'ref' && page.homes.get(core.name)?.kind === 'nested' ? core.name : undefined
  if (nested === undefined) return contentOf(page, core, id, level)
  return componentInside(page, nested, level)
}

/** Returns a component unfolded within a different schema, with the component's anchor. */
export function componentInside(page: ReferencePage, name: string, level: number): InsideView | undefined {
  const target = page.api.schemas.get(name)
  if (!target) return undefined
  const id = page.anchor('schema', name)
  const { fields = [], variants = [] } = contentOf(page, target, id, level) ?? {}
  const evident = variants.length > 0 || (target.kind === 'object' && fields.length > 0)
  return {
    id,
    summary: countsOf(fields, variants),
    typeHtml: evident ? undefined : plainType(page, target),
    textHtml: renderMarkdown(target.description, level),
    facts: [...factsOf(target), ...schemaFacts(target)],
    fields,
    variants,
  }
}

/** Replaces a union with one member by that member. */
function unwrap(schema: Schema): Schema {
  const [only, ...others] = schema.kind === 'union' ? schema.members : []
  if (!only || others.length > 0) return schema
  const { description = only.description } = schema
  return {
    ...only,
    nullable: schema.nullable || only.nullable,
    ...(description !== undefined && { description }),
  }
}

/** Returns the item schema of a list or the value schema of a map, recursively. */
function coreOf(repeated: Schema): Schema {
  const schema = unwrap(repeated)
  if (schema.kind === 'array' && schema.prefix.length === 0) return coreOf(schema.items)
  if (schema.kind === 'object' && schema.properties.length === 0 && typeof schema.additional !== 'string') {
    return coreOf(schema.additional)
  }
  return schema
}

function contentOf(page: ReferencePage, schema: Schema, id: string, level: number): InsideView | undefined {
  const core = coreOf(schema)
  if (core !== schema) return insideOf(page, core, id, level)
  const fields = fieldsOf(page, schema, id, level)
  const variants = schema.kind === 'union' ? variantsOf(page, schema.members, id, level) : []
  if (fields.length + variants.length === 0) return undefined
  return {
    id: undefined,
    summary: countsOf(fields, variants),
    typeHtml: undefined,
    textHtml: '' as SafeHtml,
    facts: [],
    fields,
    variants,
  }
}

function fieldsOf(page: ReferencePage, schema: Schema, id: string, level: number): FieldView[] {
  if (schema.kind === 'intersection') {
    return schema.members.flatMap((member) => {
      const nested = member.kind === 'ref' && page.homes.get(member.name)?.kind === 'nested'
      const target = nested ? page.api.schemas.get(member.name) : member
      return target && target.kind !== 'ref' ? fieldsOf(page, target, id, level) : []
    })
  }
  if (schema.kind === 'array') {
    return schema.prefix.map((item, index) =>
      viewField(page, { id: `${id}.${index}`, name: `[${index}]`, schema: item }, level),
    )
  }
  return schema.kind === 'object' ? propertiesOf(page, schema, id, level) : []
}

function propertiesOf(page: ReferencePage, schema: ObjectSchema, id: string, level: number): FieldView[] {
  const named = schema.properties.map((property) =>
    viewField(
      page,
      {
        id: `${id}.${property.name}`,
        name: property.name,
        schema: property.schema,
        required: page.written && property.required,
        flags: [...accessOf(property), ...(page.written || property.required ? [] : ['may be absent'])],
      },
      level,
    ),
  )
  const matched = schema.patterns.map(({ pattern, schema: inside }) =>
    viewField(page, { id: `${id}.${pattern}`, name: `/${pattern}/`, schema: inside }, level),
  )
  const others =
    schema.properties.length > 0 && typeof schema.additional !== 'string'
      ? [
          viewField(
            page,
            { id: `${id}.others`, name: '…', schema: schema.additional, flags: ['any other name'] },
            level,
          ),
        ]
      : []
  return [...named, ...matched, ...others]
}

function accessOf({ readOnly, writeOnly }: Property): string[] {
  return [...(readOnly ? ['read-only'] : []), ...(writeOnly ? ['write-only'] : [])]
}

function variantsOf(
  page: ReferencePage,
  members: readonly Schema[],
  id: string,
  level: number,
): VariantView[] {
  if (!members.some((member) => member.kind === 'ref' || isComposite(member))) return []
  return members.map((member, index) => {
    const inside = insideOf(page, member, `${id}.${index + 1}`, level)
    return {
      id: inside?.id,
      titleHtml: describeType(page, member),
      textHtml: inside?.textHtml ?? renderMarkdown(member.description, level),
      fields: inside?.fields ?? [],
    }
  })
}

/** Describes a type, with links to components: `array of Book or null`. */
export function describeType(page: ReferencePage, schema: Schema): SafeHtml {
  const type = plainType(page, schema)
  return schema.nullable ? html`${[type]} or null` : type
}

function plainType(page: ReferencePage, schema: Schema): SafeHtml {
  switch (schema.kind) {
    case 'ref':
      return describeReference(page, schema.name)
    case 'array':
      return schema.prefix.length > 0 ? html`tuple` : html`array of ${[describeType(page, schema.items)]}`
    case 'object':
      if (schema.properties.length > 0 || typeof schema.additional === 'string') return html`object`
      return html`map of ${[describeType(page, schema.additional)]}`
    case 'union':
      return joinHtml(unique(schema.members.map((member) => describeType(page, member))), ' or ')
    case 'intersection':
      return joinHtml(unique(schema.members.map((member) => describeType(page, member))), ' and ')
    case 'enum':
      return describeEnum(schema)
    case 'number':
      return schema.integer ? html`integer` : html`number`
    case 'string':
      return schema.format === undefined ? html`string` : html`string &lt;${schema.format}&gt;`
    case 'any':
      return html`any value`
    case 'never':
      return html`no value`
    case 'boolean':
    case 'null':
      return escapeHtml(schema.kind)
  }
}

/** Describes an enumeration; a single value is shown as a constant. */
function describeEnum({ values }: EnumSchema): SafeHtml {
  if (values.length === 1) return html`always ${[scalarCode(values[0])]}`
  return joinHtml(unique(values.map((value) => escapeHtml(value === null ? 'null' : typeof value))), ' or ')
}

/** Describes a scalar component by its type first, followed by its name. */
function describeReference(page: ReferencePage, name: string): SafeHtml {
  const target = page.api.schemas.get(name)
  const link = html`<a href="${page.href('schema', name)}">${name}</a>`
  if (!target || isComposite(target)) return link
  return html`${[plainType(page, target)]} ${[link]}${target.nullable ? ' or null' : ''}`
}

function valuesAt(schema: Schema, target: Schema | undefined): ValueView[] {
  if (schema.kind === 'enum') return viewValues(schema)
  if (target?.kind !== 'enum' || target.values.length > LISTED_MEMBERS) return []
  return target.values.map((value) => ({ valueHtml: scalarCode(value), meaningHtml: undefined }))
}

function viewValues(schema: EnumSchema): ValueView[] {
  if (schema.values.length === 1) return []
  return membersOf(schema).map(({ value, description }) => ({
    valueHtml: scalarCode(value),
    meaningHtml: description === undefined ? undefined : renderMarkdown(description, 6),
  }))
}

function isGrowing(schema: Schema): boolean {
  return schema.kind === 'enum' && schema.open
}

function unique(parts: readonly SafeHtml[]): SafeHtml[] {
  return [...new Set(parts)]
}

function countsOf(fields: readonly FieldView[], variants: readonly VariantView[]): string {
  if (variants.length > 0) return count(variants.length, 'form')
  return fields.length > 0 ? count(fields.length, 'property', 'properties') : 'Details'
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
