/** Finds dashboard pages by ID or by words in their titles. */
import { records } from '../../../../generated/canonical/records.ts'
import type { Environment } from '../../../platform/environment.ts'
import { type IdPrefix, isId, PREFIXES } from '../../../platform/ids.ts'
import type { MenuEntry } from '../../engine/frame.ts'
import { AUDIT_PATH } from '../resources/audit-entry.ts'
import { RESOURCES } from '../resources/resources.ts'
import { REQUESTS_PATH } from '../watch/requests.ts'

export interface FoundPlace {
  /** Path below the environment. */
  readonly path: string
  /** Absent for the current environment. */
  readonly environment?: Environment
}

/** The pages of one kind of record: a list, and possibly a detail page. */
interface RecordPages extends FoundPlace {
  readonly hasDetail: boolean
}

/** Records that have pages other than those of a `DashboardResource`. */
const OTHERS: Readonly<Partial<Record<IdPrefix, RecordPages>>> = {
  len: { path: 'ledger-entries', hasDetail: true },
  req: { path: REQUESTS_PATH, hasDetail: true },
  aud: { path: AUDIT_PATH, hasDetail: true },
  key: { path: 'keys', hasDetail: false },
  mem: { path: 'members', hasDetail: false },
}

const DESCRIBED: Readonly<Record<string, RecordPages>> = Object.fromEntries(
  Object.values(RESOURCES)
    .flat()
    .flatMap(({ path, list, detail, environment }) =>
      Object.entries(records)
        .filter(([, record]) => 'list' in record && record.list === list.operation)
        .map(([prefix]) => [
          prefix,
          { path, hasDetail: detail !== undefined, ...(environment && { environment }) },
        ]),
    ),
)

/** Returns the page of the record with this ID, or its list page. Undefined if the text is not an ID with a page. */
export function findById(text: string): FoundPlace | undefined {
  const prefix = PREFIXES.find((each) => isId(each, text))
  const found = prefix && (OTHERS[prefix] ?? DESCRIBED[prefix])
  if (!found) return undefined
  const { path, hasDetail, environment } = found
  return { path: hasDetail ? `${path}/${text}` : path, ...(environment && { environment }) }
}

/** Returns the pages whose group and title contain every word of the text. */
export function findByName(entries: readonly MenuEntry[], text: string): MenuEntry[] {
  const asked = text.toLowerCase().split(/\s+/).filter(Boolean)
  return entries.filter(({ group, title }) => {
    const said = `${group} ${title}`.toLowerCase()
    return asked.length > 0 && asked.every((word) => said.includes(word))
  })
}
