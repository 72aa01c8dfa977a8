/** Serves template images to Google Wallet. They are public, like everything that a pass shows. */
import type { Pool } from '../../../../database/pool/pool.ts'
import { readSpace } from '../../../../database/space.ts'
import { isId } from '../../../../platform/ids.ts'
import { readTemplate } from '../../../templates/queries.ts'
import { drawDefaultLogo } from '../../render/google/default-logo.ts'
import { GOOGLE_IMAGES, type GoogleImage, pictureOf } from '../../render/google/resource.ts'
import { type HolderRequest, nothingHere, requireMethod } from '../holders.ts'
import { isSpace } from './callbacks.ts'

/** `{space}/{template}/{image}-{digest}.png`. */
const ADDRESS = /^([^/]+)\/([^/]+)\/(\w+)-[0-9a-f]{16}\.png$/

/**
 * Creates the handler of `GET /google/v1/images/…`. The digest in the name changes with the image, so clients can cache
 * it forever.
 */
export function createImages(
  database: Pick<Pool, 'forTenant'>,
): (visit: HolderRequest, rest: string) => Promise<void> {
  return async (visit, rest) => {
    requireMethod(visit, 'GET', 'HEAD')
    const [, space = '', id = '', name = ''] = ADDRESS.exec(rest) ?? []
    if (!isSpace(space) || !isId('tpl', id) || !isImage(name)) throw nothingHere()
    const template = await readTemplate(database.forTenant(readSpace(space).tenantId), space, id)
    if (!template) throw nothingHere()
    const { brand } = template
    const picture = pictureOf(brand, name)
    if (picture === undefined && name === 'strip') throw nothingHere()
    const bytes =
      picture === undefined
        ? await drawDefaultLogo(brand.background_color, brand.foreground_color)
        : Buffer.from(picture, 'base64')
    visit.response.writeHead(200, [
      'Content-Type',
      'image/png',
      'Content-Length',
      String(bytes.length),
      'Cache-Control',
      'public, max-age=31536000, immutable',
      'X-Content-Type-Options',
      'nosniff',
    ])
    visit.response.end(visit.request.method === 'HEAD' ? undefined : bytes)
  }
}

function isImage(name: string): name is GoogleImage {
  return GOOGLE_IMAGES.some((each) => each === name)
}
