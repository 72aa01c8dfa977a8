import type { HolderRoute } from '../holders.ts'
import { type CallbackParts, createCallbacks, isSpace } from './callbacks.ts'
import { createImages } from './images.ts'

/** Path prefix of everything that Google Wallet requests. */
export const GOOGLE_PREFIX = '/google/v1/'

/** Routes `callback/{space}` and `images/…`. */
export function googleRoute(parts: CallbackParts): HolderRoute {
  const callbacks = createCallbacks(parts)
  const images = createImages(parts.database)
  return (visit) => {
    const [, what, rest = ''] = /^(callback|images)\/(.+)$/.exec(visit.rest) ?? []
    if (what === 'images') return images(visit, rest)
    return what === 'callback' && isSpace(rest) ? callbacks(visit, rest) : undefined
  }
}
