/** Views for the reference templates. Members whose names end in `Html` are printed without escaping. */
import type { RequestChoice } from './choices.ts'
import type { SafeHtml } from './html.ts'

/** A labeled value or a flag: `Default: 25`. */
export interface FactView {
  readonly label: string
  readonly valueHtml: SafeHtml
}

export interface ValueView {
  readonly valueHtml: SafeHtml
  readonly meaningHtml: SafeHtml | undefined
}

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

/** The unfolded contents of a composite. */
export interface InsideView {
  /** Present if a component is described here. */
  readonly id: string | undefined
  readonly summary: string
  /** The type, if the contents do not show it. */
  readonly typeHtml: SafeHtml | undefined
  readonly textHtml: SafeHtml
  readonly facts: readonly FactView[]
  readonly fields: readonly FieldView[]
  readonly variants: readonly VariantView[]
}

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
  /** Whether it consists of other schemas; only these are listed in the contents. */
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

/** A link to a response that several operations share. */
export interface ResponseLinkView {
  readonly href: string
  readonly status: string
}

export interface SharedResponseView extends ResponseView {
  readonly id: string
}

export interface SampleView {
  readonly title: string
  /** Language of a sample request; undefined for responses. */
  readonly language: string | undefined
  /** Whether it is initially unfolded. */
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
  /** What readers can choose when they try the operation. */
  readonly choices: readonly RequestChoice[]
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

/** One version, whose parts are distributed over several pages. */
export interface VersionView {
  readonly title: string
  readonly version: string
  readonly status: string
  readonly noticeHtml: SafeHtml | undefined
  readonly textHtml: SafeHtml
  readonly servers: readonly FactView[]
  readonly security: readonly SecurityView[]
  /** Parameters that every operation has. */
  readonly parameters: readonly FieldGroupView[]
  readonly headers: readonly FieldView[]
  readonly tags: readonly TagView[]
  /** Headers that every event has. */
  readonly eventHeaders: readonly FieldView[]
  readonly errors: readonly ErrorView[]
  readonly sharedResponses: readonly SharedResponseView[]
  readonly schemas: readonly SchemaView[]
}
