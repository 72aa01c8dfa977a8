/** What a message says, and when. Messages and batches of messages share it. */
import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'
import { toTimestamp } from '../../database/types.ts'
import { parseInstant, writeInstant } from '../../platform/instants.ts'

type Schemas = components['schemas']

/** Times in milliseconds since the epoch. */
export interface MessageContent {
  readonly header: string
  readonly body: string
  readonly translations: Schemas['PassMessageTranslations']
  readonly starts_at: number | null
  readonly ends_at: number | null
}

/** Columns of the content, in the order of `contentValues`. */
export const CONTENT_COLUMNS = 'header, body, translations, starts_at, ends_at'

export function contentValues({ header, body, translations, starts_at, ends_at }: MessageContent): unknown[] {
  return [header, body, JSON.stringify(translations), timestamp(starts_at), timestamp(ends_at)]
}

/** Returns a time as the database reads it. */
export function timestamp(ms: number | null): string | null {
  return ms === null ? null : toTimestamp(ms)
}

export function instant(ms: number | null): string | null {
  return ms === null ? null : writeInstant(ms)
}

/** Reads the content of a request. Throws `validation_failed` if a time is not possible. @param now service time. */
export function readContent(
  { header, body, translations = {}, starts_at, ends_at }: Schemas['PassMessageCreate'],
  now: number,
): MessageContent {
  const faults: Detail[] = []
  const read = (field: string, given: string | undefined): number | null => {
    const time = given === undefined ? null : parseInstant(given)
    if (time !== undefined) return time === null ? null : Math.ceil(time)
    faults.push({ field, issue: 'must be a UTC timestamp in the years 0001 to 9999' })
    return null
  }
  const starts = read('starts_at', starts_at)
  const ends = read('ends_at', ends_at)
  if (ends !== null && ends <= now) faults.push({ field: 'ends_at', issue: 'must be in the future' })
  else if (ends !== null && ends <= (starts ?? now))
    faults.push({ field: 'ends_at', issue: 'must be after starts_at' })
  if (faults.length > 0) throw validationFailed(faults)
  return { header, body, translations, starts_at: starts, ends_at: ends }
}

type ShownContent = Pick<Schemas['PassMessage'], keyof MessageContent>

export function showContent({
  header,
  body,
  translations,
  starts_at,
  ends_at,
}: MessageContent): ShownContent {
  return { header, body, translations, starts_at: instant(starts_at), ends_at: instant(ends_at) }
}
