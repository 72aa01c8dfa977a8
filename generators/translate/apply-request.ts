/** Translates requests without generating code. */
import type { RequestParts } from '../runtime/contract.ts'
import { translateRequest } from '../runtime/requests.ts'
import { applyRewrite } from './apply.ts'
import { applyParameters } from './parameters.ts'
import type { Transition } from './transition.ts'

/** Returns the translation of an operation's requests to the next version. */
export function requestTranslator(transition: Transition, id: string): (parts: RequestParts) => RequestParts {
  const parameters = (part: 'path' | 'query' | 'header') => (values: Readonly<Record<string, unknown>>) =>
    applyParameters(transition.parameters[part].get(id) ?? [], values)
  const key = transition.bodies.get(id)
  return translateRequest({
    path: parameters('path'),
    query: parameters('query'),
    headers: parameters('header'),
    ...(key !== undefined && {
      body: (value: unknown) =>
        applyRewrite({ kind: 'call', key }, value, { direction: 'up', functions: transition.up }),
    }),
    moves: (transition.requestMoves.get(id) ?? []).map(({ from, to, by: { change, lens } }) => ({
      from,
      to,
      change: `${change.version}/${change.id}`,
      ...(lens.up && { up: lens.up }),
    })),
  })
}
