/** `svc status`: shows the account, the environment, the API version and the remaining rate limit. */
import type { Command } from 'commander'
import type { Schemas } from '../../generated/client/src/2026-05-19/index.ts'
import { readDeprecation } from '../../generated/client/src/runtime/deprecation.ts'
import { render } from './print.ts'
import { call } from './svc-request.ts'
import type { Surroundings, SvcRunner, SvcSession } from './svc-session.ts'

/** Adds `svc status`. */
export function addStatus(program: Command, run: SvcRunner, { interruption }: Surroundings): void {
  program
    .command('status')
    .description('show your account, the environment, the API version and the remaining rate limit')
    .addHelpText('after', '\nExamples:\n  svc status\n  svc status --profile live --json')
    .action((_words: object, command: Command) =>
      run(command, async (session, { json, print }) => {
        print(render(await readStatus(session, interruption()), json).trimEnd())
      }),
    )
}

async function readStatus(session: SvcSession, signal: AbortSignal): Promise<object> {
  // Sent without a version header, so that the response shows the version that the account is pinned to.
  const headers = new Headers({ Accept: 'application/json' })
  const { response, body } = await call(session, { method: 'GET', path: '/v1/me', headers }, signal)
  const { tenant, key, version, environment } = body as Schemas['Me']
  const header = (name: string) => response.headers.get(name)
  const limit = (name: string) => Number(header(`X-RateLimit-${name}`))
  const reset = new Date(limit('Reset') * 1000)
  return {
    tenant: `${tenant.name} (${tenant.id})`,
    plan: tenant.plan,
    environment,
    address: session.baseUrl,
    profile: session.profile?.name ?? null,
    credential: key.id,
    scope: key.scope,
    version,
    ...deprecationOf(version, response.headers),
    limit: {
      resource: header('X-RateLimit-Resource'),
      per_minute: limit('Limit'),
      remaining: limit('Remaining'),
      full_at: reset.toISOString(),
    },
  }
}

function deprecationOf(version: string, headers: Headers): object {
  const notice = readDeprecation(version, headers)
  if (!notice) return {}
  return {
    deprecated_since: notice.since?.toISOString() ?? null,
    sunset: notice.sunset?.toISOString() ?? null,
    guide: notice.links[0]?.href ?? null,
  }
}
