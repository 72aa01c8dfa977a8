import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { ReportLinks } from '../../tenants/addresses/report-links.ts'
import type { ReportRow } from './queries.ts'

/** Returns the API representation of a report. The links to its files contain their expiry. */
export function showReport(
  row: ReportRow,
  space: string,
  links: ReportLinks,
): components['schemas']['TreasuryReport'] {
  const { id, type, currency, status, result, expires_at } = row
  return {
    id,
    object: 'treasury_report',
    type,
    interval_start: writeInstant(row.interval_start),
    interval_end: writeInstant(row.interval_end),
    currency,
    status,
    result:
      result && expires_at !== null
        ? {
            files: result.files.map(({ format, sha256 }) => ({
              format,
              url: links.address({ space, reportId: id, format }),
              sha256,
            })),
            expires_at: writeInstant(expires_at),
            row_count: result.row_count,
            opening: result.opening,
            closing: result.closing,
          }
        : null,
    failure_code: row.failure_code,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}
