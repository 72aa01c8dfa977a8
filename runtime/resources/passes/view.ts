import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import { shownValues } from '../pass-templates/fields.ts'
import { showLink } from './links.ts'
import type { PassRow } from './queries.ts'
import { statusAt } from './status.ts'

/**
 * A pass as the interface shows it.
 *
 * @param baseUrl origin of the environment's API.
 * @param now service time, by which it expires.
 */
export function showPass(row: PassRow, baseUrl: string, now: number): components['schemas']['Pass'] {
  const page = `${baseUrl}/p/${row.page_token}`
  return {
    id: row.id,
    object: 'pass',
    template_id: row.template_id,
    status: statusAt(row, now),
    holder: { email: row.holder_email, name: row.holder_name },
    fields: shownValues(row.template_fields, row.fields),
    download: { apple_url: `${page}.pkpass`, google_url: showLink(row), page_url: page },
    platforms: [...row.platforms],
    expires_at: instant(row.expires_at),
    installed_at: instant(row.installed_at),
    revoked_at: instant(row.revoked_at),
    archived_at: instant(row.archived_at),
    metadata: row.metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

function instant(ms: number | null): string | null {
  return ms === null ? null : writeInstant(ms)
}
