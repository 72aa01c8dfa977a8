/** Collects the errors of a document from the schemas and examples of its error responses. */
import type { Wire } from '../../client-runtime/service.ts'
import { enumMembers, propertiesNamed } from '../../ir/members.ts'
import type { Api, ApiContent, ApiOperation, Response } from '../../ir/model.ts'

export interface CataloguedError {
  readonly code: string
  readonly description?: string
  /** Statuses and types in examples of the error, in document order. */
  readonly statuses: readonly string[]
  readonly types: readonly string[]
  /** Response bodies. */
  readonly examples: readonly unknown[]
}

/** Returns every value of the error's `type`, in document order. */
export function errorTypes(api: Api, wire: Wire): readonly string[] {
  return [...membersNamed(api, wire, 'type').keys()]
}

/** Returns every value of the error's `code`, in document order. */
export function errorCatalogue(api: Api, wire: Wire): readonly CataloguedError[] {
  const shown = shownErrors(api, wire)
  return [...membersNamed(api, wire, 'code')].map(([code, description]) => {
    const uses = shown.filter((each) => each.code === code)
    return {
      code,
      statuses: unique(uses.map((each) => each.status)),
      types: unique(uses.flatMap((each) => (each.type === undefined ? [] : [each.type]))),
      examples: uses.map((each) => each.example),
      ...(description !== undefined && { description }),
    }
  })
}

function membersNamed(api: Api, { error }: Wire, name: string): ReadonlyMap<string, string | undefined> {
  const found = new Map<string, string | undefined>()
  for (const { content } of errorContents(api)) {
    for (const envelope of propertiesNamed(api, content.schema, error.envelope)) {
      for (const property of propertiesNamed(api, envelope.schema, name)) {
        for (const { value, description } of enumMembers(api, property.schema)) {
          if (typeof value === 'string') found.set(value, found.get(value) ?? description)
        }
      }
    }
  }
  return found
}

/** Returns the error types in the examples of an operation's own responses, in document order. */
export function refusalTypes({ responses }: ApiOperation, wire: Wire): readonly string[] {
  const refusals = responses.filter(({ status }) => !/^[123]/.test(status))
  const shown = refusals.flatMap((response) =>
    response.contents.flatMap((content) => errorsIn(response, content, wire)),
  )
  return unique(shown.flatMap(({ type }) => (type === undefined ? [] : [type])))
}

interface ShownError {
  readonly status: string
  readonly code: unknown
  readonly type?: string
  readonly example: unknown
}

function shownErrors(api: Api, wire: Wire): ShownError[] {
  return errorContents(api).flatMap(({ response, content }) => errorsIn(response, content, wire))
}

function errorsIn({ status }: Response, { examples }: ApiContent, wire: Wire): ShownError[] {
  return examples.flatMap((example) => {
    const inside = isObject(example) ? example[wire.error.envelope] : undefined
    if (!isObject(inside)) return []
    const { code, type } = inside
    return [{ status, code, example, ...(typeof type === 'string' && { type }) }]
  })
}

/** Returns each shared response once, because thousands of operations refer to a few of them. */
function errorContents(api: Api): { response: Response; content: ApiContent }[] {
  const found = new Map<string, { response: Response; content: ApiContent }>()
  for (const operation of api.operations) {
    for (const response of operation.responses) {
      if (/^[123]/.test(response.status)) continue
      for (const content of response.contents) {
        found.set(`${response.status} ${content.place.pointer}`, { response, content })
      }
    }
  }
  return [...found.values()]
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)]
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
