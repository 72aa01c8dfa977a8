/** Emits the resources of one version: classes whose methods call the functions of the operations. */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { pascalCase } from '../../ir/naming.ts'
import { resourceMethods } from '../../ir/resource-methods.ts'
import { createFile } from '../../print/file.ts'
import { docComment, propertyKey } from '../../print/literal.ts'
import { createPage } from '../reference/page.ts'
import { createTypeNames, schemaTypes } from '../types/type-names.ts'
import { paramsPart } from '../wire/arguments.ts'
import { argumentsOf, printNames, printParameters } from './arguments.ts'
import { answerOf, describe, MANAGED, managedHeaders } from './functions.ts'
import { createRows } from './rows.ts'

/** A resource with its methods and the resources below it. */
interface ResourceNode {
  readonly name: string
  readonly className: string
  readonly operations: ApiOperation[]
  readonly children: Map<string, ResourceNode>
}

/**
 * Emits the resources of a version.
 *
 * @param renamed by operation id: names of functions whose operation id is not an identifier.
 * @param classes names of the error classes, by `type`.
 */
export function printResources(
  api: Api,
  wire: Wire,
  walked: boolean,
  renamed: ReadonlyMap<string, string>,
  classes: ReadonlyMap<string, string>,
): string {
  const { types, root, paramsOf } = resourceTypes(api)
  const declared = [...nodesOf(root).map(({ className }) => className), ...paramsOf.values()]
  const file = createFile([...declared, 'Managed', 'connection', 'params', 'options'])
  const page = createPage(api, wire, '', [])
  const rowOf = createRows(api, wire, walked)
  const resource = file.use('Resource', '../runtime/resource.ts')
  const functions = file.use('*', './functions.ts', { type: false, as: 'functions' })
  const params: string[] = []
  const body = nodesOf(root).flatMap((node) => [
    '',
    ...docComment(
      `Methods of ${node.className === root.className ? 'all resources' : `\`client.${pathOf(root, node)}\``}.`,
    )
      .trimEnd()
      .split('\n'),
    `export class ${node.className} extends ${resource} {`,
    ...[...node.children.values()].map(
      (child) => `  readonly ${propertyKey(child.name)} = new ${child.className}(this.connection)`,
    ),
    ...node.operations.flatMap((operation, at) => [
      ...(at > 0 || node.children.size > 0 ? [''] : []),
      ...printMethod(operation),
    ]),
    '}',
  ])

  function printMethod(operation: ApiOperation): string[] {
    const { method } = resourceMethods(api).get(operation.id)!
    const taken = argumentsOf(file, api, wire, operation, (schema) => types.get(schema)!)
    const name = paramsOf.get(operation.id)
    if (name !== undefined && taken.params) params.push(`export type ${name} = ${taken.params.type}`)
    const shown =
      name !== undefined && taken.params ? { ...taken, params: { ...taken.params, type: name } } : taken
    const called = `${functions}.${renamed.get(operation.id) ?? operation.id}`
    return [
      ...docComment(describe(page, operation, classes), '  ')
        .trimEnd()
        .split('\n'),
      `  ${propertyKey(method)}(${printParameters(shown).join(', ')}): ${answerOf(file, page, operation, rowOf(operation), types)} {`,
      `    return ${called}(${['this.connection', ...printNames(taken)].join(', ')})`,
      '  }',
    ]
  }

  if (body.some((line) => line.includes('Managed>')))
    file.print(MANAGED, `type Managed = ${managedHeaders(api, wire)}`, '')
  file.print('// ----- Parameters -----', ...params, '', '// ----- Resources -----', ...body)
  return file.text()
}

/** Names the classes of a version's resources, and the types of their parameters by operation id. */
export function resourceTypes(api: Api) {
  const types = schemaTypes(api.schemas.keys())
  const names = createTypeNames()
  for (const type of [...types.values(), 'Client', 'Resources']) names.claim(type)
  return { types, root: treeOf(api, names), paramsOf: paramsNames(api, names) }
}

/** Returns the resources as a tree, whose root has the outermost ones. */
function treeOf(api: Api, names: { claim(wanted: string): string }): ResourceNode {
  const root: ResourceNode = { name: '', className: 'Resources', operations: [], children: new Map() }
  for (const operation of api.operations) {
    let node = root
    const { resource } = resourceMethods(api).get(operation.id)!
    for (const [at, name] of resource.entries()) {
      const known = node.children.get(name)
      if (known) node = known
      else {
        const className = names.claim(
          `${resource
            .slice(0, at + 1)
            .map(pascalCase)
            .map(upperFirst)
            .join('')}Resource`,
        )
        const child: ResourceNode = { name, className, operations: [], children: new Map() }
        node.children.set(name, child)
        node = child
      }
    }
    node.operations.push(operation)
  }
  return root
}

const upperFirst = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Returns the inner resources before the outer ones, which create them. */
function nodesOf(node: ResourceNode): ResourceNode[] {
  return [...[...node.children.values()].flatMap(nodesOf), node]
}

function pathOf(root: ResourceNode, wanted: ResourceNode): string {
  for (const child of root.children.values()) {
    if (child === wanted) return child.name
    const below = pathOf(child, wanted)
    if (below !== '') return `${child.name}.${below}`
  }
  return ''
}

/** Names the parameters of operations that take some: `PassCreateParams`, `PassListParams`. */
function paramsNames(api: Api, names: { claim(wanted: string): string }): ReadonlyMap<string, string> {
  return new Map(
    api.operations
      .filter((operation) => paramsPart(api, operation))
      .map(({ id }) => {
        const { resource, method } = resourceMethods(api).get(id)!
        const noun = resource.map(singular).map(upperFirst).join('')
        return [id, names.claim(`${noun}${upperFirst(method)}Params`)]
      }),
  )
}

/** Returns the singular of an English plural that ends with a regular s: `passes` → `pass`, `scans` → `scan`. */
function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (/(?:sse|she|che|xe)s$/.test(word)) return word.slice(0, -2)
  return /[^su]s$/.test(word) ? word.slice(0, -1) : word
}
