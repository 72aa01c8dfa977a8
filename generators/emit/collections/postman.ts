/**
 * Prints a Postman collection, which Insomnia, Hoppscotch, Bruno and newman also read.
 * Format: https://schema.getpostman.com/json/collection/v2.1.0/collection.json
 */
import { reasonOf } from '../reference/reasons.ts'
import { show } from '../reference/request.ts'
import { API_KEY, type CollectedRequest, type Collection, type CollectionField } from './collection.ts'

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

export function printPostman({
  name,
  version,
  description,
  credential,
  variables,
  folders,
}: Collection): string {
  return print({
    info: { name, version, description, schema: SCHEMA },
    ...(credential && { auth: authOf(credential) }),
    variable: variables.map((each) => ({
      key: each.name,
      value: each.value,
      type: 'string',
      description: each.description,
    })),
    item: folders.map((folder) => ({
      name: folder.name,
      description: folder.description,
      item: folder.requests.map(itemOf),
    })),
  })
}

const print = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`

function authOf({ header, prefix }: NonNullable<Collection['credential']>): object {
  const value = (key: string, text: string) => ({ key, value: text, type: 'string' })
  if (prefix === 'Bearer ') return { type: 'bearer', bearer: [value('token', `{{${API_KEY}}}`)] }
  return {
    type: 'apikey',
    apikey: [value('key', header), value('value', `${prefix}{{${API_KEY}}}`), value('in', 'header')],
  }
}

function itemOf(request: CollectedRequest): object {
  const { name, example } = request
  const sent = requestOf(request)
  return {
    name,
    request: { ...sent, ...(request.authenticated ? {} : { auth: { type: 'noauth' } }) },
    response:
      example === undefined
        ? []
        : [
            {
              name: `${example.status} ${reasonOf(example.status)}`,
              originalRequest: sent,
              status: reasonOf(example.status),
              ...(/^\d+$/.test(example.status) && { code: Number(example.status) }),
              _postman_previewlanguage: 'json',
              header: [{ key: 'Content-Type', value: example.mediaType }],
              body: JSON.stringify(example.value, null, 2),
            },
          ],
  }
}

function requestOf({
  method,
  description,
  base,
  path,
  query,
  headers,
  body,
  ...rest
}: CollectedRequest): object {
  const sent = query.filter((each) => each.sent)
  const search = sent.map(({ name, value }) => `${name}=${value}`).join('&')
  return {
    method,
    description,
    header: [...headers.map(fieldOf), ...(body ? [{ key: 'Content-Type', value: body.mediaType }] : [])],
    url: {
      raw: `${base}/${path.join('/')}${search === '' ? '' : `?${search}`}`,
      host: [base],
      path,
      ...(query.length > 0 && { query: query.map(fieldOf) }),
      ...(rest.pathParameters.length > 0 && {
        variable: rest.pathParameters.map(({ name, value, description }) => ({
          key: name,
          value,
          description,
        })),
      }),
    },
    ...(body && { body: bodyOf(body) }),
  }
}

const fieldOf = ({ name, value, description, sent }: CollectionField): object => ({
  key: name,
  value,
  description,
  ...(sent ? {} : { disabled: true }),
})

function bodyOf({ kind, value }: NonNullable<CollectedRequest['body']>): object {
  if (kind === 'json')
    return { mode: 'raw', raw: JSON.stringify(value, null, 2), options: { raw: { language: 'json' } } }
  if (kind === 'bytes') return { mode: 'file', file: {} }
  const pairs = Object.entries(value ?? {})
  return { mode: 'urlencoded', urlencoded: pairs.map(([key, each]) => ({ key, value: show(each) })) }
}
