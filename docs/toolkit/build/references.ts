/** The pages that are generated from types, definitions and test cases. They are committed, so that readers find them in the repository. */
import { printCommandReference } from './command-reference.ts'
import { printConfigurationReference } from './configuration-reference.ts'
import { printLensReference } from './lens-reference.ts'
import { printRealChanges } from './real-changes/page.ts'
import { printSupportedFeatures } from './supported-features.ts'

/** Prints each page, by its path below `docs/toolkit`. */
export const REFERENCES: Readonly<Record<string, () => string>> = {
  'lenses.md': printLensReference,
  'real-changes.md': printRealChanges,
  'configuration.md': printConfigurationReference,
  'commands.md': printCommandReference,
  'supported.md': printSupportedFeatures,
}
