/** Links that contain both documents, compressed, in the fragment of the address. Browsers do not send it to servers. */

/** The documents of a link. Lenses are code, so links do not contain them. */
export interface LinkedDocuments {
  readonly old: string
  readonly next: string
}

const PREFIX = '#documents='

export async function writeFragment(documents: LinkedDocuments): Promise<string> {
  const bytes = await convert(new Blob([JSON.stringify(documents)]), new CompressionStream('deflate-raw'))
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return PREFIX + text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/**
 * Returns the documents of a fragment; undefined if it has none.
 *
 * @throws if the fragment is damaged
 */
export async function readFragment(fragment: string): Promise<LinkedDocuments | undefined> {
  if (!fragment.startsWith(PREFIX)) return undefined
  const text = atob(fragment.slice(PREFIX.length).replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
  const inflated = await convert(new Blob([bytes]), new DecompressionStream('deflate-raw'))
  const { old, next } = JSON.parse(new TextDecoder().decode(inflated)) as Partial<LinkedDocuments>
  if (typeof old !== 'string' || typeof next !== 'string') throw new Error('the link lacks a document')
  return { old, next }
}

async function convert(blob: Blob, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  return new Uint8Array(await new Response(blob.stream().pipeThrough(stream)).arrayBuffer())
}
