/** Reads nodes of a document for `new-resource`. */

export type YamlNode = Readonly<Record<string, unknown>>

export const METHODS = ['get', 'post', 'put', 'patch', 'delete']

export function operationsOf(document: YamlNode, tag: string) {
  return Object.entries(document.paths as Record<string, Record<string, YamlNode>>).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method, node]) => METHODS.includes(method) && (node.tags as string[])?.[0] === tag)
      .map(([method, node]) => ({ path, method, node })),
  )
}

export function componentOf(node: unknown): string | undefined {
  return (node as { $ref?: string } | undefined)?.$ref?.split('/').at(-1)
}

function jsonOf(node: unknown): string | undefined {
  const content = (node as { content?: Record<string, { schema?: YamlNode }> } | undefined)?.content
  return componentOf(content?.['application/json']?.schema)
}

/** Returns the operation's own parameters, without the document's defaults. */
export const parametersOf = (operation: YamlNode) => (operation.parameters ?? []) as readonly YamlNode[]

export const bodyOf = (operation: YamlNode) => jsonOf(operation.requestBody)

export function successOf(operation: YamlNode): string | undefined {
  const responses = (operation.responses ?? {}) as Record<string, YamlNode>
  return jsonOf(responses[Object.keys(responses).find((status) => status.startsWith('2')) ?? ''])
}
