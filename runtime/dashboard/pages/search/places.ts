/** Finds dashboard pages by ID or by words in their titles. */
import { records } from '../../../../generated/canonical/records.ts'
import type { Environment } from '../../../platform/environment.ts'
import { type IdPrefix, isId, PREFIXES } from '../../../platform/ids.ts'
import type { MenuEntry } from '../../engine/frame.ts'
import { RESOURCES } from '../resources/resources.ts'
import { REQUESTS_PATH } from '../watch/requests.ts'

export interface FoundPlace {
  /** What the place shows, such as "Cards". */
  readonly kind: string
  /** Path below the environment. */
  readonly path: string
  /** Absent for the current environment. */
  readonly environment?: Environment
}

/** The pages of one kind of record: a list, and possibly a detail page. */
interface RecordPages extends FoundPlace {
  readonly hasDetail: boolean
}

/** Records that have pages without a `DashboardResource`. */
const OTHERS: Readonly<Partial<Record<IdPrefix, RecordPages>>> = {
  len: { kind: 'Ledger entries', path: 'ledger-entries', hasDetail: true },
  req: { kind: 'Request log', path: REQUESTS_PATH, hasDetail: true },
  key: { kind: 'API keys', path: 'keys', hasDetail: false },
  mem: { kind: 'Members', path: 'members', hasDetail: false },
}

const DESCRIBED: Readonly<Record<string, RecordPages>> = Object.fromEntries(
  Object.values(RESOURCES)
    .flat()
    .flatMap(({ title: kind, path, list, detail, environment }) =>
      Object.entries(records)
        .filter(([, record]) => 'list' in record && record.list === list.operation)
        .map(([prefix]) => [
          prefix,
          { kind, path, hasDetail: detail !== undefined, ...(environment && { environment }) },
        ]),
    ),
)

/** Returns the page of the record with this ID, or its list page. Undefined if the text is not an ID with a page. */
export function findById(text: string): FoundPlace | undefined {
  const prefix = PREFIXES.find((each) => isId(each, text))
  const found = prefix && (DESCRIBED[prefix] ?? OTHERS[prefix])
  if (!found) return undefined
  const { kind, path, hasDetail, environment } = found
  return { kind, path: hasDetail ? `${path}/${text}` : path, ...(environment && { environment }) }
}

/** Returns the pages whose group and title contain every word of the text. Pages whose title contains all words are first. */
export function findByName(entries: readonly MenuEntry[], text: string): MenuEntry[] {
  const asked = text.toLowerCase().split(/\s+/).filter(Boolean)
  const contains = (said: string) => asked.every((word) => said.toLowerCase().includes(word))
  const found = entries.filter(({ group, title }) => asked.length > 0 && contains(`${group} ${title}`))
  return found.toSorted((one, other) => Number(contains(other.title)) - Number(contains(one.title)))
}
