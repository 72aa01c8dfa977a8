import { createHash } from 'node:crypto'
import { drawBoxes } from '../boxes.ts'
import type { LocalImages, PassBrand, PassKind, PassState } from '../pass-state.ts'
import { decodePng, encodePng, type Image, readPng } from '../png.ts'
import { resample } from '../resample.ts'
import { posterOf } from './poster.ts'

/** A file in a pass, with its hash for the manifest. */
export interface PassFile {
  readonly name: string
  readonly content: Buffer
  /** Hexadecimal SHA-1, which Apple's manifest requires. */
  readonly sha1: string
}

type AppleImage = 'icon' | 'logo' | 'strip' | 'artwork' | 'primaryLogo' | 'secondaryLogo'

/**
 * Side of an icon, and maximum size of the other images, in points (Apple, "Pass Design and Creation", and "Wallet" in the
 * Human Interface Guidelines for posters).
 */
const ICON = 29
const ROOM = {
  logo: { width: 160, height: 50 },
  strip: { width: 375, height: 432 },
  artwork: { width: 358, height: 448 },
  primaryLogo: { width: 126, height: 30 },
  secondaryLogo: { width: 135, height: 12 },
} as const

const SCALES = [1, 2, 3] as const

/** Kinds whose style supports a strip. Apple rejects a strip in other styles. */
export const WITH_STRIP: ReadonlySet<PassKind> = new Set(['loyalty', 'gift_card', 'coupon', 'event_ticket'])

export interface Images {
  /**
   * Returns the images of a pass in three scales each. There is always an icon: devices cannot open a pass without one.
   *
   * @param languages of the folders that the pass has.
   */
  filesOf(
    state: Pick<PassState, 'kind' | 'brand' | 'options'>,
    languages: readonly string[],
  ): Promise<readonly PassFile[]>
}

/** Cache size for each image name in MiB, including keys. */
const CACHE_BYTES = {
  icon: 8,
  logo: 16,
  strip: 48,
  artwork: 48,
  primaryLogo: 8,
  secondaryLogo: 4,
} as const

/**
 * Creates the image scaler. It caches recent results by image content, because all passes of a template share their
 * images.
 */
export function createImages(mebibytes: Readonly<Record<AppleImage, number>> = CACHE_BYTES): Images {
  const cacheOf = (name: AppleImage) => createCache(mebibytes[name] * 2 ** 20)
  const caches: Readonly<Record<AppleImage, ImageCache>> = {
    icon: cacheOf('icon'),
    logo: cacheOf('logo'),
    strip: cacheOf('strip'),
    artwork: cacheOf('artwork'),
    primaryLogo: cacheOf('primaryLogo'),
    secondaryLogo: cacheOf('secondaryLogo'),
  }
  const given = async (name: AppleImage, base64: string | undefined): Promise<readonly PassFile[]> =>
    base64 === undefined ? [] : caches[name].find(base64, () => scaled(name, base64))
  const drawn = ({ background_color, foreground_color }: PassBrand) =>
    caches.icon.find(`${background_color}${foreground_color}`, () =>
      inSizes('icon', (scale) => drawIcon(ICON * scale, background_color, foreground_color)),
    )
  return {
    async filesOf({ kind, brand, options = {} }, languages) {
      const { images = {}, apple_poster: poster } = options
      const style = posterOf({ kind, options })
      /** An image beside the folders would hide those in them, so each folder has one, or none has. */
      const inLanguages = async (
        source: keyof LocalImages,
        name: AppleImage = source,
      ): Promise<readonly PassFile[]> => {
        if (!Object.values(images).some((each) => each[source] !== undefined))
          return given(name, brand[source])
        const found = languages.map(async (language) =>
          (await given(name, images[language]?.[source] ?? brand[source])).map((file) => ({
            ...file,
            name: `${language}.lproj/${file.name}`,
          })),
        )
        return (await Promise.all(found)).flat()
      }
      const [icon, ...others] = await Promise.all([
        given('icon', brand.icon),
        inLanguages('logo'),
        WITH_STRIP.has(kind) ? inLanguages('strip') : [],
        style ? given('artwork', poster?.artwork) : [],
        style ? inLanguages('logo', 'primaryLogo') : [],
        style === 'posterEventTicket' ? given('secondaryLogo', poster?.secondary_logo) : [],
      ])
      return [...(icon.length > 0 ? icon : await drawn(brand)), ...others.flat()]
    },
  }
}

/**
 * Scales an image. Returns no files if the image is unreadable: templates from before images were validated may have
 * such images.
 */
async function scaled(name: AppleImage, base64: string): Promise<PassFile[]> {
  const png = readPng(Buffer.from(base64, 'base64'))
  const image = png && decodePng(png)
  if (!image) return []
  const { width, height } = pointsOf(name, image)
  return inSizes(name, (scale) => resample(image, Math.round(width * scale), Math.round(height * scale)))
}

/** Returns the display size in points: at most the available room, and one to three pixels for each point. */
function pointsOf(name: AppleImage, { width, height }: Image): { width: number; height: number } {
  if (name === 'icon') return { width: ICON, height: ICON }
  const times = Math.min(3, Math.max(1, width / ROOM[name].width, height / ROOM[name].height))
  return { width: Math.max(1, width / times), height: Math.max(1, height / times) }
}

async function inSizes(name: AppleImage, imageOf: (scale: number) => Image): Promise<PassFile[]> {
  const files: PassFile[] = []
  for (const scale of SCALES) {
    const content = await encodePng(imageOf(scale))
    files.push(fileOf(`${name}${scale === 1 ? '' : `@${scale}x`}.png`, content))
  }
  return files
}

export function fileOf(name: string, content: Buffer): PassFile {
  return { name, content, sha1: createHash('sha1').update(content).digest('hex') }
}

/** Draws a card in the pass's colors. */
function drawIcon(side: number, background: string, foreground: string): Image {
  return drawBoxes(side, [
    [background, 0, 0, 1, 1],
    [foreground, 0.2, 0.28, 0.8, 0.72],
    [background, 0.2, 0.4, 0.8, 0.48],
  ])
}

interface ImageCache {
  find(key: string, make: () => Promise<PassFile[]>): Promise<readonly PassFile[]>
}

/**
 * Creates a cache that evicts the least recently used files beyond `maxBytes`. Concurrent requests for a key share one
 * result.
 */
function createCache(maxBytes: number): ImageCache {
  const entries = new Map<string, { readonly files: Promise<readonly PassFile[]>; bytes: number }>()
  let total = 0
  const drop = (key: string) => {
    total -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }
  return {
    find(key, make) {
      const known = entries.get(key)
      if (known) {
        entries.delete(key)
        entries.set(key, known)
        return known.files
      }
      const entry = { files: make(), bytes: 0 }
      entries.set(key, entry)
      entry.files.then(
        (files) => {
          if (entries.get(key) !== entry) return
          entry.bytes = files.reduce((sum, { content }) => sum + content.length, key.length)
          total += entry.bytes
          for (const oldest of entries.keys()) {
            if (total <= maxBytes) break
            drop(oldest)
          }
        },
        () => drop(key),
      )
      return entry.files
    },
  }
}
