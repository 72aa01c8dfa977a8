/** Builds the view for the package's README. */

import type { Wire } from '../../client-runtime/service.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { resourceMethods } from '../../ir/resource-methods.ts'
import { schemesOf } from '../wire/security.ts'
import { type ClientConfig, hasUpgrade } from './config.ts'
import { errorClassNames } from './error-classes.ts'
import { printMethod } from './flat.ts'
import { signatureHeaderOf } from './webhooks.ts'

interface ReadmeView {
  readonly name: string
  readonly oldest: string
  readonly current: string
  readonly versions: readonly string[]
  /** The version before the newest, if a command of the package upgrades programs. */
  readonly previous: string | undefined
  /**
   * An operation without input that all versions have, and a list of the newest version; undefined if there is
   * none.
   */
  readonly plain: ReadmeOperation | undefined
  readonly listed: ReadmeOperation | undefined
  /** A query of the newest version without required input, if there are options of TanStack Query. */
  readonly queried: string | undefined
  /** Whether there is a mock for tests. */
  readonly mocked: boolean
  /** Members of a page, and the parameter for the next page. */
  readonly items: string
  readonly more: string
  readonly next: string
  readonly after: string
  /** Name of an error class. */
  readonly refused: string | undefined
  /** A type of event of the newest version, if its deliveries are signed. */
  readonly sent: string | undefined
  readonly eventVersion: string
  /** Security schemes of the newest version, if one of them needs more than `apiKey`. */
  readonly schemes: readonly { readonly name: string; readonly basic: boolean }[] | undefined
  readonly weights: readonly { readonly what: string; readonly kilobytes: number }[] | undefined
}

/** The names of an operation: its function, and its method, such as `books.list`. */
interface ReadmeOperation {
  readonly function: string
  readonly method: string
}

function namesOf(api: Api | undefined, operation: ApiOperation | undefined): ReadmeOperation | undefined {
  return (
    api &&
    operation && { function: operation.id, method: printMethod(resourceMethods(api).get(operation.id)!) }
  )
}

/** @param apis oldest first. */
export function readmeOf(apis: readonly Api[], config: ClientConfig, wire: Wire): ReadmeView {
  const newest = apis.at(-1)
  const plain = (api: Api) =>
    api.operations.filter(({ method, path }) => method === 'GET' && !path.includes('{'))
  const single = newest ? plain(newest).filter((each) => each.extensions['x-pagination'] !== 'cursor') : []
  const everywhere = single.find(({ id }) => apis.every((api) => plain(api).some((each) => each.id === id)))
  const { items, more, next, after } = wire.page
  return {
    name: config.package.name,
    oldest: apis[0]?.version ?? '',
    current: newest?.version ?? '',
    versions: apis.map(({ version }) => version),
    previous: hasUpgrade(apis, config) ? apis.at(-2)?.version : undefined,
    plain: namesOf(newest, everywhere),
    listed: namesOf(
      newest,
      newest && plain(newest).find((each) => each.extensions['x-pagination'] === 'cursor'),
    ),
    queried: config.reactQuery && newest ? plain(newest)[0]?.id : undefined,
    mocked: config.testing ?? false,
    ...{ items, more, next, after },
    refused: errorClassNames(apis, wire).values().next().value,
    sent: newest && signatureHeaderOf(newest) && newest.events[0]?.name,
    eventVersion: wire.eventVersion,
    schemes: newest && namedSchemes(newest),
    weights:
      config.weights && Object.entries(config.weights).map(([what, kilobytes]) => ({ what, kilobytes })),
  }
}

function namedSchemes(api: Api): ReadmeView['schemes'] {
  const schemes = Object.entries(schemesOf(api)).map(([name, { basic = false }]) => ({ name, basic }))
  const isAlone = api.operations.every(({ security }) =>
    security.every((each) => Object.keys(each).length < 2),
  )
  return isAlone && schemes.every(({ basic }) => !basic) ? undefined : schemes
}
