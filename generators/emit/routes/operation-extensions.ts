/** Collects the extensions of an operation: its own, and those that apply to all its versions. */
import type { ExtensionRules } from '../../ir/extension-rules.ts'
import { isJson } from '../../ir/media-type.ts'
import type { Api, ApiOperation, Extensions, Schema } from '../../ir/model.ts'
import { walk } from '../../ir/walk.ts'

/**
 * Returns a function that collects the extensions of an operation of any version: its own, then those that the
 * newest version with the operation declares for all versions, including those inherited from success schemas.
 * `canonicalId` is the operation's id in the canonical version.
 *
 * @param apis oldest first.
 */
export function createOperationExtensions(
  apis: readonly Api[],
  rules: ExtensionRules | undefined,
): (operation: ApiOperation, canonicalId: string) => Extensions {
  if (!rules) return ({ extensions }) => extensions
  const { canonical, inherited } = rules
  const shared = new Map<string, Extensions>()
  for (const api of [...apis].reverse()) {
    const marksOf = createMarks(api, inherited)
    for (const operation of api.operations) {
      if (shared.has(operation.id)) continue
      const declared = Object.entries(operation.extensions).filter(([name]) => canonical.has(name))
      const marks = successSchemas(operation).flatMap((schema) => [...marksOf(schema)])
      shared.set(operation.id, Object.fromEntries([...declared, ...marks]))
    }
  }
  return (operation, canonicalId) => {
    const own = Object.entries(operation.extensions).filter(([name]) => !canonical.has(name))
    return { ...Object.fromEntries(own), ...shared.get(canonicalId) }
  }
}

function successSchemas({ responses }: ApiOperation): Schema[] {
  return responses
    .filter(({ status }) => /^2(\d\d|XX)$/.test(status))
    .flatMap(({ contents }) => contents.filter(({ mediaType }) => isJson(mediaType)))
    .map(({ schema }) => schema)
}

/** Returns a function that finds the inherited extensions of a schema and of everything that it refers to. */
function createMarks(
  api: Api,
  inherited: ReadonlySet<string>,
): (schema: Schema) => ReadonlyMap<string, unknown> {
  return (schema) => {
    const marks = new Map<string, unknown>()
    const seen = new Set<string>()
    const look = (from: Schema) =>
      walk(from, (each) => {
        for (const [name, value] of Object.entries(each.extensions))
          if (inherited.has(name)) marks.set(name, value)
        if (each.kind !== 'ref' || seen.has(each.name)) return
        seen.add(each.name)
        const target = api.schemas.get(each.name)
        if (target) look(target)
      })
    look(schema)
    return marks
  }
}
