/** What the templates of the reference read. Members whose names end in `Html` are printed as they stand. */
import type { SafeHtml } from './html.ts'

/** A name, or a word on a value: `Default: 25`. */
export interface FactView {
  readonly label: string
  readonly valueHtml: SafeHtml
}

/** A member of an enumeration. */
export interface ValueView {
  readonly valueHtml: SafeHtml
  readonly meaningHtml: SafeHtml | undefined
}

/** A property, a parameter or a header. */
export interface FieldView {
  readonly id: string | undefined
  readonly name: string
  readonly typeHtml: SafeHtml
  readonly required: boolean
  readonly deprecated: boolean
  /** `read-only`, `null removes`, … */
  readonly flags: readonly string[]
  readonly textHtml: SafeHtml
  readonly facts: readonly FactView[]
  readonly values: readonly ValueView[]
  readonly inside: InsideView | undefined
}

/** What a composite is made of, unfolded where it stands. */
export interface InsideView {
  /** Present when a component has its home here. */
  readonly id: string | undefined
  readonly summary: string
  /** Where the parts do not show it. */
  readonly typeHtml: SafeHtml | undefined
  readonly textHtml: SafeHtml
  readonly facts: readonly FactView[]
  readonly fields: readonly FieldView[]
  readonly variants: readonly VariantView[]
}

/** A member of a union. */
export interface VariantView {
  readonly id: string | undefined
  readonly titleHtml: SafeHtml
  readonly textHtml: SafeHtml
  readonly fields: readonly FieldView[]
}

export interface SchemaView {
  readonly id: string
  readonly href: string
  readonly name: string
  /** Whether it is made of others: what readers look for in the contents. */
  readonly composite: boolean
  readonly typeHtml: SafeHtml
  readonly textHtml: SafeHtml
  readonly facts: readonly FactView[]
  readonly values: readonly ValueView[]
  readonly fields: readonly FieldView[]
  readonly variants: readonly VariantView[]
}

export interface FieldGroupView {
  readonly title: string
  readonly fields: readonly FieldView[]
}

export interface BodyView {
  readonly required: boolean
  readonly mediaType: string
  readonly typeHtml: SafeHtml
  readonly textHtml: SafeHtml
  readonly inside: InsideView | undefined
}

export interface ResponseView {
  readonly status: string
  readonly reason: string
  readonly textHtml: SafeHtml
  readonly bodies: readonly BodyView[]
  readonly headersHtml: SafeHtml | undefined
}

/** A response that several operations share: a link to where it is described. */
export interface ResponseLinkView {
  readonly href: string
  readonly status: string
}

export interface SharedResponseView extends ResponseView {
  readonly id: string
}

export interface SampleView {
  readonly title: string
  /** Of a request; undefined for what comes back. */
  readonly language: string | undefined
  /** Whether it is shown without being asked for. */
  readonly open: boolean
  readonly codeHtml: SafeHtml
}

export interface OperationView {
  readonly id: string
  readonly href: string
  readonly title: string
  readonly method: string
  readonly methodClass: string
  readonly pathHtml: SafeHtml
  readonly deprecated: boolean
  readonly textHtml: SafeHtml
  readonly facts: readonly FactView[]
  readonly groups: readonly FieldGroupView[]
  readonly body: BodyView | undefined
  readonly responses: readonly ResponseView[]
  readonly sharedResponses: readonly ResponseLinkView[]
  readonly samples: readonly SampleView[]
}

export interface ReferenceEventView {
  readonly id: string
  readonly href: string
  readonly name: string
  readonly title: string | undefined
  readonly deprecated: boolean
  readonly textHtml: SafeHtml
  readonly headers: readonly FieldView[]
  readonly payload: BodyView | undefined
  readonly samples: readonly SampleView[]
}

export interface TagView {
  readonly href: string
  readonly title: string
  /** One sentence, without markup. */
  readonly summary: string
  readonly textHtml: SafeHtml
  readonly schemas: readonly SchemaView[]
  readonly operations: readonly OperationView[]
  readonly events: readonly ReferenceEventView[]
}

export interface ErrorView {
  readonly id: string
  readonly code: string
  readonly statuses: string
  readonly types: string
  readonly textHtml: SafeHtml
}

export interface SecurityView {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly textHtml: SafeHtml
  readonly scopes: readonly ValueView[]
}

/** One version, for the pages that it is spread over. */
export interface VersionView {
  readonly title: string
  readonly version: string
  readonly status: string
  readonly noticeHtml: SafeHtml | undefined
  readonly textHtml: SafeHtml
  readonly servers: readonly FactView[]
  readonly security: readonly SecurityView[]
  /** What every operation takes. */
  readonly parameters: readonly FieldGroupView[]
  readonly headers: readonly FieldView[]
  readonly tags: readonly TagView[]
  /** What every event has. */
  readonly eventHeaders: readonly FieldView[]
  readonly errors: readonly ErrorView[]
  readonly sharedResponses: readonly SharedResponseView[]
  readonly schemas: readonly SchemaView[]
}
