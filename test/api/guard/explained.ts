import type { Case, Described } from './requests.ts'
import type { Verdict } from './verdicts.ts'

interface Difference {
  readonly given: Case
  readonly described: Described
  readonly ours: Verdict
  readonly theirs: Verdict
}

/** A family of requests on which the checks differ, and why ours is the verdict to keep. */
export interface Explained {
  readonly why: string
  readonly fits: (difference: Difference) => boolean
}

export const EXPLAINED: readonly Explained[] = [
  {
    why: 'numbers are read as they are written: the validator coerces 5.0, 0x10 and 1e2 into whole numbers',
    fits: ({ given, ours, theirs }) =>
      !theirs &&
      ours?.code === 'invalid_format' &&
      /[?&]limit=/.test(given.target) &&
      ours.message.startsWith('limit'),
  },
  {
    why: 'bodies are UTF-8 (RFC 8259, 8.1): the validator takes any charset',
    fits: ({ given, ours, theirs }) =>
      !theirs &&
      ours?.code === 'unsupported_media_type' &&
      /charset/.test(given.headers['content-type'] ?? ''),
  },
  {
    why: 'an operation without a body takes none, or {}: the validator does not look at what is not described',
    fits: ({ described, ours, theirs }) => !theirs && ours !== undefined && described.body === undefined,
  },
  {
    why: 'half of a surrogate pair is no text that could be stored: JSON Schema allows it',
    fits: ({ ours, theirs }) => !theirs && /must not contain an unpaired surrogate/.test(ours?.message ?? ''),
  },
  {
    why: 'a parameter may be empty where its schema allows it: the validator never allows it',
    fits: ({ ours, theirs }) => !ours && theirs?.message.startsWith('Empty value found') === true,
  },
  {
    why: 'Service-Sandbox-Authorization is a key: what asks the sandbox checks it, after the body (promotions/promotions.test.ts)',
    fits: ({ ours, theirs }) => !ours && /service-sandbox-authorization/.test(theirs?.message ?? ''),
  },
]
