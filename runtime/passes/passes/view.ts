import type { components } from '../../../generated/canonical/types.ts'
import type { Context } from '../../api/handler.ts'
import { writeInstant } from '../../platform/instants.ts'
import { shownValues } from '../templates/fields.ts'
import { showLink } from './links.ts'
import type { PassRow } from './queries.ts'
import { statusAt } from './status.ts'

/** The values needed to render a pass. */
export interface PassShowing extends Pick<Context['links'], 'baseUrl' | 'passTokens'> {
  readonly space: string
  /** Service time; it decides whether a pass has expired. */
  readonly now: number
}

export function showingOf({
  links,
  caller,
  request,
}: Pick<Context, 'links' | 'caller' | 'request'>): PassShowing {
  const { baseUrl, passTokens } = links
  return { baseUrl, passTokens, space: caller.space, now: request.now }
}

/**
 * Length of the random page tokens of old passes. Such a token cannot be resolved, so those passes get a derived token
 * too.
 */
const RANDOM_TOKEN = 24

function pageToken({ id, page_token }: PassRow, { passTokens, space }: PassShowing): string {
  return page_token.length === RANDOM_TOKEN ? passTokens.write('page', { space, passId: id }) : page_token
}

export function showPass(row: PassRow, showing: PassShowing): components['schemas']['Pass'] {
  const { baseUrl, now } = showing
  const page = `${baseUrl}/p/${pageToken(row, showing)}`
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
    messages_opted_out_at: instant(row.messages_opted_out_at),
    metadata: row.metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

function instant(ms: number | null): string | null {
  return ms === null ? null : writeInstant(ms)
}
