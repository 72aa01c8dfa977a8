/** Plugin for `redocly lint`: expands operation defaults, so that Redocly's rules see complete operations. */
import { DEFAULTS } from './operation-default-rules.ts'
import { expandDefaults } from './operation-defaults.ts'

const writeOutDefaults = () => ({
  Root: {
    enter(root: Record<string, unknown>): void {
      const expansion = expandDefaults(root)
      if (!expansion) return
      Object.assign(root, expansion.json)
      delete root[DEFAULTS]
    },
  },
})

/** @see https://redocly.com/docs/cli/custom-plugins */
export default () => ({
  id: 'dateline',
  preprocessors: { oas3: { 'operation-defaults': writeOutDefaults } },
})
