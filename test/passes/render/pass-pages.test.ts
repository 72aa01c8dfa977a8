/** The page of a pass as a browser fetches it: over a socket, without a key, in both environments. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../../runtime/platform/environment.ts'
import { issuePass, makeTemplate, speakFor } from '../../api/fixtures.ts'
import { makeTenant, type Send, useService } from '../../support/service.ts'

const service = useService()
let tenantId: string

beforeAll(async () => {
  tenantId = await makeTenant(service)
})

async function fetchPage(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe.each(['sandbox', 'live'] as const)('in %s', (environment: Environment) => {
  let send: Send
  beforeAll(async () => {
    send = await speakFor(service, tenantId, environment)
  })
  const issue = async (content: object = {}) => issuePass(send, await makeTemplate(send), content)

  test('the page shows the pass, and both wallets by the addresses that the API gives', async () => {
    const { download } = await issue({ fields: { points: '4,711' }, holder: { name: 'Amara <Okafor>' } })
    const { status, headers, text } = await fetchPage(download.page_url)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('x-robots-tag')).toContain('noindex')
    expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
    for (const part of ['Harbour Coffee', '4,711', 'Amara &lt;Okafor&gt;', '<svg aria-hidden="true"'])
      expect(text).toContain(part)
    expect(text).toContain(`href="${download.apple_url}"`)
    expect(text).toContain(`href="${download.google_url}"`)
    expect(text.includes('Test pass')).toBe(environment === 'sandbox')
  })

  test('the page is sent again when the pass has changed, and not before', async () => {
    const { id, download } = await issue()
    const first = await fetchPage(download.page_url)
    const etag = first.headers.get('etag')!
    const again = await fetchPage(download.page_url, { headers: { 'If-None-Match': etag } })
    expect([again.status, again.text]).toEqual([304, ''])
    for (const name of ['etag', 'last-modified', 'vary', 'cache-control'])
      expect(again.headers.get(name)).toBe(first.headers.get(name))
    const onPhone = { 'If-None-Match': etag, 'User-Agent': 'Android' } // another order of wallets
    expect((await fetchPage(download.page_url, { headers: onPhone })).status).toBe(200)
    await send(`/v1/passes/${id}/revoke`, { method: 'POST' })
    const revoked = await fetchPage(download.page_url, { headers: { 'If-None-Match': etag } })
    expect(revoked.status).toBe(200)
    expect(revoked.text).toContain('Harbour Coffee has withdrawn this pass')
    expect(revoked.text).not.toContain('.pkpass')
    const dates = [first, revoked].map(({ headers }) => Date.parse(headers.get('last-modified')!))
    expect(dates[1]).toBeGreaterThan(dates[0]!)
  })

  test('HEAD says the same, without the page', async () => {
    const { download } = await issue()
    const { headers } = await fetchPage(download.page_url)
    const head = await fetchPage(download.page_url, { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([200, ''])
    for (const name of ['etag', 'content-length', 'last-modified', 'content-security-policy'])
      expect(head.headers.get(name)).toBe(headers.get(name))
  })

  test('the page of a pass refuses other methods', async () => {
    const { download } = await issue()
    const { status, headers } = await fetchPage(download.page_url, { method: 'POST' })
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('an address of no pass gets one page, whatever is wrong with it', async () => {
    const { download } = await issue()
    const { origin, pathname } = new URL(download.page_url)
    const other = environment === 'sandbox' ? service.urls.live : service.urls.sandbox
    const wrong = [
      `${origin}/p/`,
      `${origin}/p/x`,
      `${origin}${pathname.slice(0, -1)}`,
      `${origin}${pathname}A`,
      `${origin}${pathname}/`,
      `${origin}/p/%00`,
      `${other}${pathname}`,
    ]
    const pages = await Promise.all(wrong.map((url) => fetchPage(url)))
    expect(pages.map(({ status }) => status)).toEqual(wrong.map(() => 404))
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1)
    expect(pages[0]!.text).toContain('Pass not found')
  })
})
