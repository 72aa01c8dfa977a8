/** Prints the configuration reference from the types of the configuration. */
import { type InterfaceDeclaration, Node, Project, type PropertySignature } from 'ts-morph'
import { EMITTERS } from '../../../generators/generate/config.ts'
import { BUILT_EMITTERS } from '../../../generators/output/built.ts'
import { commentOf } from './doc-comment.ts'

const HEAD = `# Configuration

dateline reads \`dateline.config.json\`. If only \`dateline.config.ts\`, \`.mjs\` or \`.js\` exists, dateline reads that module, which exports
the same members:

\`\`\`ts
import { defineConfig } from 'dateline'

export default defineConfig({
  documents: './openapi',
  versions: './versions',
  out: './generated',
})
\`\`\`

Paths are relative to the folder of the file. \`documents\` and \`out\` are required.
`

const CONFIG = 'generators/generate/config.ts'

/** Members that contain objects, and the declaration of each. */
const OBJECTS: readonly (readonly [member: string, file: string, name: string])[] = [
  ['client', 'generators/emit/client/config.ts', 'ClientConfig'],
  ['wire', 'generators/client-runtime/service.ts', 'Wire'],
  ['wire.page', 'generators/client-runtime/call.ts', 'PageWire'],
  ['stub', 'generators/scaffold/config.ts', 'StubConfig'],
  ['stub.files', 'generators/scaffold/config.ts', 'StubFile'],
]

/** Types whose values are listed. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  'EmitterName[]': EMITTERS,
  'BuiltEmitter[]': BUILT_EMITTERS,
}

/**
 * Returns the page in Markdown.
 *
 * @throws Error if a member has no docstring
 */
export function printConfigurationReference(): string {
  const project = new Project({ tsConfigFilePath: 'tsconfig.json', skipAddingFilesFromTsConfig: true })
  const source = project.addSourceFileAtPath(CONFIG)
  const written = source.getTypeAliasOrThrow('FamilyConfig').getDescendants().filter(Node.isPropertySignature)
  const names = new Set(written.map((each) => each.getName()))
  const rest = source
    .getInterfaceOrThrow('Config')
    .getProperties()
    .filter((each) => !names.has(each.getName()))
  const objects = OBJECTS.map(([member, file, name]) => {
    const declared = project.addSourceFileAtPath(file).getInterfaceOrThrow(name)
    return `\n## ${headingOf(member)}\n\n${introductionOf(declared)}${tableOf(declared.getProperties())}`
  })
  return `${HEAD}\n## Members\n\n${tableOf([...written, ...rest])}${objects.join('')}`
}

/** `wire.page` → `page in wire`, whose anchor has no characters that sites encode differently. */
const headingOf = (member: string): string => member.split('.').reverse().join(' in ')

function introductionOf(declared: InterfaceDeclaration): string {
  const { description } = commentOf(declared)
  return description === '' ? '' : `${description}\n\n`
}

function tableOf(members: readonly PropertySignature[]): string {
  const rows = members.map((each) => {
    const { description } = commentOf(each)
    const name = each.getName()
    if (description === '') throw new Error(`the configuration member ${name} has no docstring`)
    return `| \`${name}\` | ${typeOf(each)} | ${description.replaceAll('|', '\\|')} |`
  })
  return `| Member | Type | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`
}

/** Returns the type in words. Names of declared types are replaced by their values, or by a link to their section. */
function typeOf(member: PropertySignature): string {
  const text = member.getTypeNodeOrThrow().getText().replaceAll('readonly ', '')
  const section = OBJECTS.find(
    ([, , name]) => text.startsWith(name) || (name === 'Wire' && text === 'WireConfig'),
  )
  if (section)
    return `[object](#${headingOf(section[0]).replaceAll(' ', '-')})${text.endsWith('[]') ? ', in a list' : ''}`
  const values = VALUES[text]
  if (values) return `list of ${values.map((each) => `\`${each}\``).join(', ')}`
  if (text.startsWith('{') || text.startsWith('Record')) return 'object'
  const words: Readonly<Record<string, string>> = {
    'string[]': 'list of strings',
    'string | string[]': 'string, or list of strings',
    boolean: '`true` or `false`',
  }
  if (text === 'string' || words[text]) return words[text] ?? text
  return text.startsWith('Readonly<')
    ? 'object'
    : text
        .split(' | ')
        .map((each) => `\`${each}\``)
        .join(' or ')
}
