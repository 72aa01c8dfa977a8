/** Prints the lens reference from the docstrings and signatures of the lenses, with the results of their examples. */
import { type InterfaceDeclaration, Node, Project, type PropertyAssignment, SyntaxKind } from 'ts-morph'
import { commentOf, type DocComment } from './doc-comment.ts'
import { LENS_EXAMPLES, type LensExample, type LensName } from './lens-examples.ts'
import { type ExampleRun, type ExampleValue, runExample } from './run-example.ts'

const HEAD = `# Lenses

A change consists of lenses. Each lens describes one edit of the API in both directions: *up* translates requests of the old version,
*down* translates responses, errors and events of the new one.

\`\`\`ts
import type * as Old from '../../generated/2030-01-01/types.ts'
import type * as New from '../../generated/2030-06-01/types.ts'
import { between } from 'dateline/change'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'name-books',
  why: 'A book has a name, like every other resource.',
  lenses: [v.rename(['Book'], 'title', 'name')],
})
\`\`\`

\`between\` types the lenses over both versions: a lens that names a missing property, or returns a value of the wrong type, does not
compile.

Parameters that many lenses share:

- \`schemas\`: components with the same edit, or [places](#places) of inline objects.
- \`turns\`: \`{ up, down, loss? }\`, functions that convert a value. They must be pure: no clock, no state, no exceptions.
- \`mapping\`: \`{ rename?, merge?, loss? }\`. \`rename\` maps old members to new ones; \`merge\` maps new members to the old ones shown in their place.
- \`loss\`: \`'merge'\` if several values become one, \`'drop'\` if a value is left out. A lens that loses information must declare it.
- \`operations\`: operation ids. Without them, the lens applies to every operation that has the parameter or the status.

In the examples, \`-\` marks the lines of the old version, and \`+\` the lines of the new one. Results are those of the toolkit.
`

const GROUPS: readonly (readonly [title: string, anchor: string, names: readonly LensName[]])[] = [
  [
    'Properties and values',
    'values',
    [
      'rename',
      'convert',
      'convertWhole',
      'values',
      'valuesOf',
      'moved',
      'wrapped',
      'unwrapped',
      'replace',
      'drop',
      'default',
      'optional',
      'nullable',
      'nullableWhole',
      'nonNull',
      'nonNullWhole',
      'leaveOut',
    ],
  ],
  [
    'Parameters, headers and events',
    'parameters',
    [
      'filter',
      'renamedParameter',
      'defaultParameter',
      'convertedParameter',
      'ignoredParameter',
      'movedParameter',
      'requiredHeader',
      'renamedHeader',
      'renamedEvent',
    ],
  ],
  ['Operations and responses', 'operations', ['served', 'status', 'behaviour', 'accept']],
  ['Places', 'places', ['body', 'answer', 'payload', 'inside']],
]

/** A constructor of `between`, as its source describes it. */
interface LensText extends DocComment {
  readonly name: string
  /** `rename(schemas, from, to, ...turns)`. */
  readonly signature: string
}

/**
 * Returns the page in Markdown.
 *
 * @throws Error if a lens is not in a group, has no description, or its example is wrong
 */
export function printLensReference(): string {
  const texts = new Map(readLenses().map((each) => [each.name, each]))
  const listed = GROUPS.flatMap(([, , names]) => names)
  const missing = [...texts.keys()].filter((name) => !listed.some((each) => each === name))
  if (missing.length > 0)
    throw new Error(`the lens reference lists no ${missing.join(', ')}: add it to a group`)
  return `${HEAD}${GROUPS.map(([title, , names]) => `\n## ${title}\n\n${names.map((name) => sectionOf(texts.get(name), name)).join('\n')}`).join('')}`
}

function readLenses(): LensText[] {
  const project = new Project({ tsConfigFilePath: 'tsconfig.json', skipAddingFilesFromTsConfig: true })
  const lens = project.addSourceFileAtPath('generators/change/lens.ts')
  const membersOf = (file: string, name: string) =>
    project
      .addSourceFileAtPath(`generators/change/${file}`)
      .getFunctionOrThrow(name)
      .getStatements()
      .find((each) => Node.isReturnStatement(each))
      ?.getFirstDescendantByKindOrThrow(SyntaxKind.ObjectLiteralExpression)
      .getProperties()
      .filter((each) => Node.isPropertyAssignment(each)) ?? []
  return [...membersOf('change.ts', 'between'), ...membersOf('request-lenses.ts', 'requestLenses')]
    .filter((each) => each.getName() !== 'change')
    .map((each) => textOf(each, (name) => lens.getInterface(name)))
}

function textOf(
  member: PropertyAssignment,
  interfaceOf: (name: string) => InterfaceDeclaration | undefined,
): LensText {
  const create = member.getInitializerIfKindOrThrow(SyntaxKind.ArrowFunction)
  const own = commentOf(member)
  const kind = /^\w+/.exec(create.getReturnTypeNode()?.getText() ?? '')?.[0] ?? ''
  const shared = interfaceOf(kind)
  const description = own.description || (shared ? commentOf(shared).description : '')
  const name = member.getName()
  if (description === '') throw new Error(`the lens ${name} has no docstring`)
  const parameters = create.getParameters().map((each) => {
    const type = each.getTypeNode()
    // A condition around the type only orders what the compiler infers.
    const object = Node.isConditionalTypeNode(type)
      ? type.getFirstDescendantByKind(SyntaxKind.TypeLiteral)
      : type
    const members = Node.isTypeLiteral(object)
      ? object.getProperties().map((one) => `${one.getName()}${one.hasQuestionToken() ? '?' : ''}`)
      : undefined
    return members ? `{ ${members.join(', ')} }` : `${each.isRestParameter() ? '...' : ''}${each.getName()}`
  })
  return { name, description, parameters: own.parameters, signature: `${name}(${parameters.join(', ')})` }
}

function sectionOf(text: LensText | undefined, name: LensName): string {
  if (!text) throw new Error(`the lens reference lists ${name}, which does not exist`)
  const example = LENS_EXAMPLES[name]
  const run = runExample(example)
  if (run.open.length > 0)
    throw new Error(`the example of ${name} leaves differences open: ${run.open.join(', ')}`)
  const { description, parameters, signature } = text
  return [
    `### ${name}\n\n\`v.${signature}\`\n\n${description}\n`,
    parameters.length > 0 ? `\n${parameters.map((each) => `- ${each}\n`).join('')}` : '',
    `\n\`\`\`diff\n${fragmentOf(example)}\`\`\`\n\n\`\`\`ts\n${example.lens}\n\`\`\`\n`,
    `\n${resultsOf(run)}`,
  ].join('')
}

const fragmentOf = ({ schemas, paths, webhooks }: LensExample): string =>
  [paths !== undefined && webhooks !== undefined ? undefined : paths, webhooks, schemas]
    .flatMap((each) => (each === undefined ? [] : [`${each.replace(/^\n/, '').trimEnd()}\n`]))
    .join('\n')

function resultsOf({ up, down, served, statuses, accounted }: ExampleRun): string {
  const rows = [
    ...(up ? [`| Up | ${valuesOf(up)} |`] : []),
    ...(down ? [`| Down | ${valuesOf(down)} |`] : []),
    ...served.map(([from, by]) => `| Up | \`${from}\` | \`${by}\` |`),
    ...statuses.map(([next, old]) => `| Down | \`${next}\` | \`${old}\` |`),
  ]
  const table =
    rows.length === 0 ? '' : `| Direction | Given | Translated |\n|---|---|---|\n${rows.join('\n')}\n\n`
  const places = accounted.map((each) => `\`${each}\``).join(', ')
  return `${table}Accounts for ${places === '' ? 'no difference' : places}.\n`
}

const valuesOf = ({ given, translated }: ExampleValue): string =>
  `\`${JSON.stringify(given)}\` | \`${JSON.stringify(translated)}\``
