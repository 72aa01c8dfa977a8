/** Prints the table of supported features from the golden cases. */
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

const HEAD = `# Supported features

Each row has a test case: a folder with documents, a configuration and the output that dateline generates from them.
[Parameters and bodies](../../generators/README.md#parameters-and-bodies) lists styles and media types.
`

/** Sections of the page, in order. */
const AREAS = [
  'Files',
  'Descriptions',
  'Streams',
  'Parameters',
  'Bodies',
  'Types',
  'Translation',
  'Stability',
  'Outputs',
] as const

interface Feature {
  readonly area: string
  readonly feature: string
  readonly supported: string
  /** Name of the folder. */
  readonly example: string
}

function readFeatures(): Feature[] {
  return globSync('test/golden/*/feature.json')
    .sort()
    .map((file) => {
      const feature = JSON.parse(readFileSync(file, 'utf8')) as Omit<Feature, 'example'>
      const unknown = !AREAS.some((each) => each === feature.area)
      if (unknown || !feature.feature || !feature.supported)
        throw new Error(`${file}: expected \`area\` (${AREAS.join(', ')}), \`feature\` and \`supported\``)
      return { ...feature, example: basename(dirname(file)) }
    })
}

/**
 * Returns the page in Markdown.
 *
 * @throws Error if a case describes no feature
 */
export function printSupportedFeatures(): string {
  const features = readFeatures()
  const sections = AREAS.flatMap((area) => {
    const rows = features.filter((each) => each.area === area).map(rowOf)
    return rows.length === 0
      ? []
      : [`\n## ${area}\n\n| Feature | Supported | Case |\n|---|---|---|\n${rows.join('\n')}\n`]
  })
  return HEAD + sections.join('')
}

const rowOf = ({ feature, supported, example }: Feature): string =>
  `| ${cell(capitalized(feature))} | ${cell(capitalized(supported))} | \`${example}\` |`

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
