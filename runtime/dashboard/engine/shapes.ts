/** Types that describe the pages of a resource: list, detail page, and forms. */
import type { FilterName, ListOperation } from '../../../generated/canonical/records.ts'
import type { OperationId } from '../../api/operate.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Html } from '../../platform/html.ts'
import type { PickerOption } from '../html/picker.ts'
import type { UploadedFile } from '../html/uploads.ts'
import type { DashboardVisit } from './visit.ts'

export type ShownText = Html | string

export interface ListColumn<Item> {
  readonly title: string
  /** @param link creates links to pages in the same environment. */
  show(item: Item, link: LinkTo): ShownText
  /** Aligns the column to the right. */
  readonly isAmount?: boolean
  /** The column contains the checkboxes that select rows. */
  readonly isSelection?: boolean
}

export interface LinkTo {
  /** @param path path below the environment. */
  (path: string, text: ShownText): Html
  /** Returns the ID, linked if it has a page in this environment, or a dash for null. */
  to(id: string | null): ShownText
  /** Returns the name of a record without a link, or its ID if it has no name. */
  nameOf(id: string): string
}

/** A query parameter that users can set. A text input, if it has neither options nor records. */
export interface ListFilter {
  readonly name: string
  readonly label: string
  readonly options?: readonly string[]
  /** The filter is a picker: its value is the ID of one of these records. */
  readonly pick?: Pickable
}

/** A kind of record that forms refer to, or a fixed list that is too long for a select. */
export interface Pickable {
  /** Last path segment of its lookup. */
  readonly path: string
  /** The name of one record in messages, such as `cardholder`. */
  readonly noun: string
  /** Prefix of the IDs of records. Absent for fixed lists. */
  readonly prefix?: string
  /** The operation whose role the lookup requires. Absent if every member may use it. */
  readonly operation?: OperationId
  /**
   * Finds records by name or by the beginning of an ID. An empty text finds the newest.
   *
   * @param status only records with this status.
   */
  find(visit: DashboardVisit, text: string, status?: string): Promise<readonly PickerOption[]>
  /** Reads records by ID. Unknown IDs are missing. */
  read(visit: DashboardVisit, ids: readonly string[]): Promise<readonly PickerOption[]>
}

/** Values and texts of a select, radio buttons, or checkboxes. Consecutive checkboxes of a group have a common heading. */
export type FieldOptions = readonly (readonly [value: string, text: string, group?: string])[]

/** The field `name` has the value `is`, or does not have the value `isNot`. */
export interface FieldCondition {
  readonly name: string
  readonly is?: string
  readonly isNot?: string
}

/**
 * - `amount`: decimal in the form, cents in the body.
 * - `truth`: a boolean, as a checkbox or, with options, as radio buttons.
 * - `checks`: checkboxes; the value has one option per line.
 * - `rows`: any number of rows, whose fields are named `NAME.0.FIELD`; a list in the body.
 * - `secret`: not shown again after the form was submitted.
 */
export type FormFieldKind =
  | 'text'
  | 'lines'
  | 'choice'
  | 'amount'
  | 'number'
  | 'truth'
  | 'file'
  | 'date'
  | 'email'
  | 'url'
  | 'color'
  | 'secret'
  | 'checks'
  | 'rows'

export interface FormField {
  /** Name of the form field and path of the body member: `merchant.name` is a nested member. API errors refer to this path. */
  readonly name: string
  readonly label: string
  /** Paths of the body members that the field sets, if they differ from `name`. */
  readonly of?: readonly string[]
  readonly kind?: FormFieldKind
  /** Absent if both environments have the field. */
  readonly environment?: Environment
  /** The field is a picker: its value is the ID of one of these records. */
  readonly pick?: Pickable
  /** Only records with this status can be picked. */
  readonly status?: string | undefined
  /** The newest record is picked at first. */
  readonly picksNewest?: boolean
  /** The picker takes several records: its value is one ID per line. */
  readonly isMany?: boolean
  readonly options?: FieldOptions
  /** Fields of each row of the kind `rows`. */
  readonly row?: readonly FormField[]
  /** What buttons call one row, such as `limit`. */
  readonly noun?: string
  /** Legend that the field shares with the fields beside it. */
  readonly group?: string
  /** The field applies only if all conditions are met. */
  readonly when?: readonly FieldCondition[]
  /** Accepted file types. */
  readonly accept?: string
  readonly value?: string
  readonly hint?: string
  readonly optional?: boolean
}

/** Submitted values by field name. */
export type FormValues = Readonly<Record<string, string>>

/** Returns the uploaded file of a field, or undefined if no file was selected. */
export type Files = (name: string) => UploadedFile | undefined

/** Values of a form that often belong together. */
export interface FormPreset {
  readonly text: string
  readonly values: FormValues
}

/** An operation that is performed before the operation of a form. */
export interface FirstOperation {
  readonly operation: OperationId
  /** Whether the operation is needed. */
  when(values: FormValues): boolean
  body(values: FormValues): unknown
  /** Returns values for the body of the second operation. */
  give(answer: unknown): FormValues
  /** The values of `give` in a request that is shown and not sent. */
  readonly placeholder: FormValues
}

/** A form that performs an API operation. */
export interface OperationForm {
  readonly first?: FirstOperation
  /** Buttons that fill in several fields. */
  readonly presets?: readonly FormPreset[]
  readonly operation: OperationId
  readonly title: string
  readonly button: string
  /** What the form did, such as "Card frozen". Absent if it follows from the button. */
  readonly done?: string
  readonly fields: readonly FormField[]
  /** Returns the request body. If absent, the body is built from the field names and kinds. */
  body?(values: FormValues, files: Files): unknown
  /** Returns the secret in the response, which is shown only once. */
  secret?(answer: unknown): string | undefined
}

/** An action on one item. It has its own page if it has a warning or fields, and is a single button otherwise. */
export interface ItemAction<Item> extends Omit<OperationForm, 'fields' | 'title'> {
  /** Last path segment. */
  readonly name: string
  readonly fields?: readonly FormField[]
  /** Returns the initial values of the fields. */
  values?(item: Item): FormValues
  /** Describes the consequences before the action is performed. */
  readonly warning?: string
  readonly isDanger?: boolean
  /** Whether the action applies to the item. Absent if it always applies. */
  when?(item: Item): boolean
  /** The action deletes the item. */
  readonly removes?: boolean
  /** The action can also be performed on selected rows of the list. It has no fields. */
  readonly isBulk?: boolean
  /** Writes the secrets in the response. They are shown once, for a short time. */
  reveal?(answer: unknown, item: Item): Html
}

export interface Section<Item> {
  readonly title: string
  /** Absent if both environments have the section. */
  readonly environment?: Environment
  /** Whether the item can have what the section shows. */
  when?(item: Item): boolean
  write(item: Item, visit: DashboardVisit, link: LinkTo): Promise<Html> | Html
}

/** A link from an item to another page, shown to members who may perform the operation. */
export interface ItemLink<Item> {
  readonly operation: OperationId
  /** Absent if the link is shown in every environment that has the operation. */
  readonly environment?: Environment
  readonly text: string
  /** Returns the path below the environment. */
  to(item: Item): string
  when?(item: Item): boolean
}

export interface DetailPage<Item> {
  readonly operation: OperationId
  /** The path parameter with the ID of the item. */
  readonly parameter: string
  name(item: Item): string
  /** Links above the name. Absent for a link to the list. */
  trail?(item: Item, link: LinkTo): Html
  /** Status of the item, shown beside its name. */
  status?(item: Item): string
  /** Shows the item as the thing it is, such as a card or a pass, above the sections. */
  picture?(item: Item, visit: DashboardVisit, link: LinkTo): Promise<Html> | Html
  facts(item: Item, link: LinkTo): readonly (readonly [name: string, value: ShownText])[]
  readonly sections?: readonly Section<Item>[]
  readonly ways?: readonly ItemLink<Item>[]
  readonly actions?: readonly ItemAction<Item>[]
}

/** A list operation and the labels of its filters. A filter with enumerated values is a select. */
type ListedBy<Operation> = Operation extends ListOperation
  ? {
      readonly operation: Operation
      readonly filters?: {
        readonly [Name in FilterName<Operation>]?: string | Required<Pick<ListFilter, 'label' | 'pick'>>
      }
    }
  : never

export interface DashboardResource<Item> {
  /** First path segment below the environment. */
  readonly path: string
  readonly title: string
  readonly intro: string
  /** Path of the menu entry that the resource belongs to. Absent if it has its own entry. */
  readonly menu?: string
  readonly list: ListedBy<ListOperation> & {
    /** Path parameters of the operation. */
    readonly of?: Readonly<Record<string, string>>
    readonly columns: readonly ListColumn<Item>[]
    /** Shown if the list is empty: a message with the next action. */
    readonly empty: string
    /** Writes content between the introduction and the list. */
    above?(visit: DashboardVisit): Html
  }
  readonly detail?: DetailPage<Item>
  /** A create form without fields has a custom page at `new`. */
  readonly create?: OperationForm | Pick<OperationForm, 'operation' | 'title'>
  /** Absent if both environments have the resource. */
  readonly environment?: Environment
}

/** A page of an API list response. */
export interface ApiPage<Item> {
  readonly data: readonly Item[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

export interface Identified {
  readonly id: string
}

/** Checks the description against the item type, and then erases the type so that pages can handle any resource. */
export function resource<Item extends Identified>(
  described: DashboardResource<Item>,
): DashboardResource<Identified> {
  return described as unknown as DashboardResource<Identified>
}
