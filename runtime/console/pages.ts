import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** A page that is complete in itself, with what a server must say of it. */
export interface Page {
  readonly bytes: Buffer
  /** Strong: made from the bytes. */
  readonly etag: string
  /** Lets the page's own style sheets through by their hashes, and nothing else. */
  readonly contentSecurityPolicy: string
}

/** @param text HTML whose styles stand in `style` elements, if it has any. */
export function createPage(text: string): Page {
  const bytes = Buffer.from(text)
  const styles = [...text.matchAll(/<style>(.*?)<\/style>/gs)].map(
    ([, style = '']) => `'sha256-${digest(style)}'`,
  )
  return {
    bytes,
    etag: `"${digest(bytes)}"`,
    contentSecurityPolicy: [
      "default-src 'none'",
      `style-src ${styles.join(' ') || "'none'"}`,
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  }
}

/** @returns the generated reference of each version, by version. @throws when one was not generated. */
export function readReferences(versions: readonly string[]): ReadonlyMap<string, Page> {
  return new Map(
    versions.map((version) => {
      const file = new URL(`../../generated/${version}/reference.html`, import.meta.url)
      return [version, createPage(readFileSync(file, 'utf8'))]
    }),
  )
}

function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64')
}
