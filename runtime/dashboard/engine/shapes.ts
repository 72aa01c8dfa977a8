/** What a resource says of itself to have pages: a list, a detail, forms. */
import type { FilterName, ListOperation } from '../../../generated/canonical/records.ts'
import type { OperationId } from '../../api/operate.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Html } from '../../platform/html.ts'
import type { UploadedFile } from '../html/uploads.ts'
import type { DashboardVisit } from './visit.ts'

export type ShownText = Html | string

export interface ListColumn<Item> {
  readonly title: string
  /** @param link makes a link to a page of another resource in the same environment. */
  show(item: Item, link: LinkTo): ShownText
}

export interface LinkTo {
  /** @param path below the environment. */
  (path: string, text: ShownText): Html
  /** The identifier, with a link if what it names has a page in this environment; a dash for null. */
  to(id: string | null): ShownText
}

/** A query parameter of the list that people choose. */
export interface ListFilter {
  readonly name: string
  readonly label: string
  /** Without: typed. */
  readonly options?: readonly string[]
}

export interface FormField {
  /** Of the form; and of the body, where the API finds fault with it: `merchant.name` is a member of a member. */
  readonly name: string
  readonly label: string
  /** Members of the body that it stands for, where they are called otherwise. */
  readonly of?: readonly string[]
  /** `amount`: typed as people write money, cents in the body. `truth`: a choice of `true` and `false`. */
  readonly kind?: 'text' | 'lines' | 'choice' | 'amount' | 'number' | 'truth' | 'file'
  /** The latest items, to be chosen from. */
  readonly suggest?: Suggest
  readonly options?: readonly (readonly [value: string, text: string])[]
  /** Types of a file that browsers offer. */
  readonly accept?: string
  readonly value?: string
  readonly hint?: string
  readonly optional?: boolean
}

/** Where the values of a field are found: identifiers of a list, and what they are called there. */
export interface Suggest {
  readonly operation: OperationId
  readonly query?: Readonly<Record<string, string>>
  text(item: never): string
}

/** What was typed, by field. */
export type FormValues = Readonly<Record<string, string>>

/** The file of a field; undefined where none was chosen. */
export type Files = (name: string) => UploadedFile | undefined

/** An operation that a form asks for. */
export interface OperationForm {
  readonly operation: OperationId
  readonly title: string
  readonly button: string
  readonly fields: readonly FormField[]
  /** Absent: what the fields say, by their names and kinds. */
  body?(values: FormValues, files: Files): unknown
  /** Of an answer: what nobody sees again. */
  secret?(answer: unknown): string | undefined
}

/** What is done to one item: by a button alone, or on a page of its own where there is something to say or to fill in. */
export interface ItemAction<Item> extends Omit<OperationForm, 'fields' | 'title'> {
  /** Of the address. */
  readonly name: string
  readonly fields?: readonly FormField[]
  /** What the fields hold before anything is typed. */
  values?(item: Item): FormValues
  /** What will happen, to be read before it does. */
  readonly warning?: string
  readonly isDanger?: boolean
  /** Whether it makes sense for the item; absent: always. */
  when?(item: Item): boolean
  /** The item is no longer there after it. */
  readonly removes?: boolean
}

export interface Section<Item> {
  readonly title: string
  /** Absent: both. */
  readonly environment?: Environment
  write(item: Item, visit: DashboardVisit, link: LinkTo): Promise<Html> | Html
}

/** A page of its own that leads on from an item, for those who may perform its operation. */
export interface ItemLink<Item> {
  readonly operation: OperationId
  /** Where it is; absent: wherever its operation is. */
  readonly environment?: Environment
  readonly text: string
  /** Below the environment. */
  to(item: Item): string
  when?(item: Item): boolean
}

export interface DetailPage<Item> {
  readonly operation: OperationId
  /** The parameter of the path that names the item. */
  readonly parameter: string
  name(item: Item): string
  facts(item: Item, link: LinkTo): readonly (readonly [name: string, value: ShownText])[]
  readonly sections?: readonly Section<Item>[]
  readonly ways?: readonly ItemLink<Item>[]
  readonly actions?: readonly ItemAction<Item>[]
}

/** The operation of a list, and the labels of its filters: a value is chosen if the document lists the values, otherwise typed. */
type ListedBy<Operation> = Operation extends ListOperation
  ? {
      readonly operation: Operation
      readonly filters?: { readonly [Name in FilterName<Operation>]?: string }
    }
  : never

export interface DashboardResource<Item> {
  /** First part of the address below the environment. */
  readonly path: string
  readonly title: string
  readonly intro: string
  /** The page of the menu that it belongs to; absent: its own. */
  readonly menu?: string
  readonly list: ListedBy<ListOperation> & {
    /** What it is a list of: parameters of the operation's path. */
    readonly of?: Readonly<Record<string, string>>
    readonly columns: readonly ListColumn<Item>[]
    /** What to do first where there is nothing yet. */
    readonly empty: string
    /** Between the introduction and the list. */
    above?(visit: DashboardVisit): Html
    /** What is new comes by itself, from `live` below its address. */
    readonly isLive?: boolean
  }
  readonly detail?: DetailPage<Item>
  /** Without fields: its page at `new` is one of its own. */
  readonly create?: OperationForm | Pick<OperationForm, 'operation' | 'title'>
  /** Absent: both. */
  readonly environment?: Environment
}

/** A page of a list, as the API answers it. */
export interface ApiPage<Item> {
  readonly data: readonly Item[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

export interface Identified {
  readonly id: string
}

/** Keeps the type of the items for those who write the resource, and hides it from those who show any. */
export function resource<Item extends Identified>(
  described: DashboardResource<Item>,
): DashboardResource<Identified> {
  return described as unknown as DashboardResource<Identified>
}
