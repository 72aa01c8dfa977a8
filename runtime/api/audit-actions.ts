/** What operations are called in the audit log: the resource and what was done to it, `pass.revoked`. */

/** Whose past is not made with -d or -ed. */
const IRREGULAR: Readonly<Record<string, string>> = {
  cancel: 'canceled',
  freeze: 'frozen',
  put: 'set',
  retry: 'retried',
  submit: 'submitted',
  unfreeze: 'unfrozen',
  withdraw: 'withdrawn',
}

/** @param operationId verb and resource in camel case: `revokePass`. */
export function actionOf(operationId: string): string {
  const [verb = '', ...resource] = operationId.split(/(?=[A-Z])/).map((word) => word.toLowerCase())
  const past = IRREGULAR[verb] ?? (verb.endsWith('e') ? `${verb}d` : `${verb}ed`)
  return `${resource.join('_')}.${past}`
}
