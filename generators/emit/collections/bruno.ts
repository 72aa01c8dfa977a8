/**
 * Prints a collection as the single file that Bruno exports and imports. Bruno assigns the identifiers.
 * Format: https://github.com/usebruno/bruno/blob/main/packages/bruno-schema/src/collections/index.js
 */
import { show } from '../reference/request.ts'
import { API_KEY, type CollectedRequest, type Collection, type CollectionField } from './collection.ts'

export function printBruno(collection: Collection): string {
  const { name, description, credential, folders } = collection
  const file = {
    name,
    version: '1',
    items: folders.map((folder, index) => ({
      type: 'folder',
      name: folder.name,
      seq: index + 1,
      root: { docs: folder.description, meta: { name: folder.name, seq: index + 1 } },
      items: folder.requests.map(itemOf),
    })),
    environments: environmentsOf(collection),
    root: { docs: description, ...(credential && { request: { auth: authOf(credential) } }) },
    brunoConfig: { version: '1', name, type: 'collection' },
  }
  return `${JSON.stringify(file, null, 1)}\n`
}

/** Returns one environment for each server. All have the same variables. */
function environmentsOf({ servers, variables }: Collection): object[] {
  return servers.map((server) => ({
    name: server.name,
    variables: variables.map(({ name, value, secret }) => ({
      name,
      value: name === 'base_url' ? server.url : value,
      type: 'text',
      enabled: true,
      secret: secret === true,
    })),
  }))
}

function authOf({ header, prefix }: NonNullable<Collection['credential']>): object {
  if (prefix === 'Bearer ') return { mode: 'bearer', bearer: { token: `{{${API_KEY}}}` } }
  return { mode: 'apikey', apikey: { key: header, value: `${prefix}{{${API_KEY}}}`, placement: 'header' } }
}

function itemOf(request: CollectedRequest, index: number): object {
  const { name, method, base, path, pathParameters, query, headers, authenticated, body, description } =
    request
  const search = query.filter(({ sent }) => sent).map((each) => `${each.name}=${each.value}`)
  return {
    type: 'http',
    name,
    seq: index + 1,
    request: {
      url: `${base}/${path.join('/')}${search.length === 0 ? '' : `?${search.join('&')}`}`,
      method,
      headers: [...headers.map(fieldOf), ...(body ? [contentType(body.mediaType)] : [])],
      params: [
        ...query.map((each) => ({ ...fieldOf(each), type: 'query' })),
        ...pathParameters.map((each) => ({ ...fieldOf(each), enabled: true, type: 'path' })),
      ],
      auth: { mode: authenticated ? 'inherit' : 'none' },
      body: body ? bodyOf(body) : { mode: 'none' },
      script: {},
      docs: description,
    },
  }
}

const fieldOf = ({ name, value, description, sent }: CollectionField) => ({
  name,
  value,
  description,
  enabled: sent,
})

const contentType = (value: string) => ({ name: 'Content-Type', value, enabled: true })

function bodyOf({ kind, value }: NonNullable<CollectedRequest['body']>): object {
  if (kind === 'json') return { mode: 'json', json: JSON.stringify(value, null, 2) }
  if (kind === 'bytes') return { mode: 'file', file: [] }
  const pairs = Object.entries(value ?? {})
  return {
    mode: 'formUrlEncoded',
    formUrlEncoded: pairs.map(([name, each]) => ({ name, value: show(each), enabled: true })),
  }
}
