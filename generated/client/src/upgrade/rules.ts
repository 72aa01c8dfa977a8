// @ts-nocheck
/**
 * What the `upgrade` command of a client package knows about its versions: the content of `upgrade.json`.
 *
 * Sites name what the documents declare, in the names of the older version: `Book`, `Book.author.name`,
 * `createBook body.title`, `getBook 200.author`, `listBooks query.color`, `event book.lent.data`.
 */

/** All versions of a client package. */
export interface UpgradeManifest {
  /** Name of the package. */
  readonly package: string
  /** Oldest first. */
  readonly versions: readonly string[]
  /** From each version to the next. */
  readonly steps: readonly UpgradeStep[]
  /** By version and operation id: how programs call operations. A version has only what its predecessor lacks. */
  readonly methods: Readonly<Record<string, Readonly<Record<string, MethodRow>>>>
}

/** How programs call an operation. */
export interface MethodRow {
  /** Names on the way from the client to the method: `['books', 'lend']`. */
  readonly method: readonly string[]
  /** Names of the path parameters, in the order of the arguments. */
  readonly path?: readonly string[]
  /** The part of the request that is the argument after them. */
  readonly part?: 'body' | 'query'
  /** Name of that argument's type. */
  readonly params?: string
}

/** What changes between two adjacent versions. */
export interface UpgradeStep {
  readonly from: string
  readonly to: string
  /** By id: what changed and why. */
  readonly changes: Readonly<Record<string, string>>
  /** Rules by site. */
  readonly sites: Readonly<Record<string, readonly SiteRule[]>>
  /** Rules by operation id. */
  readonly operations: Readonly<Record<string, readonly OperationRule[]>>
  /** New names of components that have another name, by the old ones. */
  readonly schemas: Readonly<Record<string, string>>
  /** Headers of deliveries with another name. */
  readonly headers: readonly HeaderRule[]
}

interface OfChange {
  /** Id of the change; absent if the documents alone decide. */
  readonly change?: string | undefined
}

/** What happens to a property, a parameter, an enumeration or an object. */
export type SiteRule = OfChange &
  (
    | { readonly kind: 'rename'; readonly to: string }
    /** Property names from the object that holds both paths. */
    | { readonly kind: 'move'; readonly from: readonly string[]; readonly to: readonly string[] }
    /** Members with another spelling, and members in whose place the newer version also has others. */
    | {
        readonly kind: 'members'
        readonly rename: Readonly<Record<string, string>>
        readonly split: Readonly<Record<string, readonly string[]>>
      }
    /** The object needs one more property, which meant this value. */
    | { readonly kind: 'add'; readonly name: string; readonly value: unknown }
    /** An answer may lack the value; the older version then shows this one. */
    | { readonly kind: 'fallback'; readonly value: unknown }
    /** Null is no longer accepted, and meant this value. */
    | { readonly kind: 'never-null'; readonly value: unknown }
    | Look
  )

/** What happens to an operation. */
export type OperationRule = OfChange &
  (
    | { readonly kind: 'rename'; readonly to: string }
    | {
        readonly kind: 'add-parameter'
        readonly in: string
        readonly name: string
        readonly value: unknown
      }
    /** The status of a success differs, which only callers see that read it. */
    | { readonly kind: 'status' }
    | Look
  )

export type HeaderRule = OfChange & { readonly from: string; readonly to: string }

/** A person must look at each use. */
interface Look {
  readonly kind: 'look'
}
