/** Which header of a version's webhooks carries the signature that the client's runtime verifies. */
import type { Api, Parameter } from '../../ir/model.ts'

/** A value in the form that `client-runtime/webhooks.ts` reads. */
const SIGNATURE = `t=1767225600,v1=${'0123456789abcdef'.repeat(4)}`

/**
 * The document says it by the header's `pattern`: a signature is what admits one, and no identifier or number does.
 * @returns undefined where no header does, or where events differ in it.
 */
export function signatureHeaderOf(api: Api): string | undefined {
  const names = new Set(
    api.events.map(({ headers }) => headers.find((header) => admitsSignature(api, header))?.name),
  )
  return names.size === 1 ? [...names][0] : undefined
}

function admitsSignature(api: Api, { schema }: Parameter): boolean {
  const named = schema.kind === 'ref' ? api.schemas.get(schema.name) : schema
  return named?.kind === 'string' && named.pattern !== undefined && regular(named.pattern).test(SIGNATURE)
}

/** As validators read patterns: with Unicode where they allow it. What is none at all was complained about. */
function regular(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}
