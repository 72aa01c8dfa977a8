import type { Database } from '../../../../database/database.ts'
import { readSpace } from '../../../../database/space.ts'
import { writeSentToGoogle } from '../../../pass-messages/work-queries.ts'
import { readPassState, type StateSources } from '../../../passes/state.ts'
import { readTemplate } from '../../../templates/queries.ts'
import { classOf } from '../../render/google/class.ts'
import { requireFit } from '../../render/google/fit.ts'
import { GOOGLE_KINDS, googleId } from '../../render/google/kinds.ts'
import {
  canSpeak,
  changeMessage,
  type GoogleMessage,
  type KnownObject,
  MAX_MESSAGES,
  missingMessages,
} from '../../render/google/messages.ts'
import { objectOf } from '../../render/google/object.ts'
import { type GoogleIssuer, type GoogleResource, withoutEmpty } from '../../render/google/resource.ts'
import type { PassState } from '../../render/pass-state.ts'
import { DONE, type GoogleClient, type SyncOutcome } from './client.ts'

/** A template or a pass to synchronize with its class or object. */
export interface Target {
  readonly space: string
  /** `tpl_…` or `pass_…`. */
  readonly id: string
  /** Whether Google probably does not have it yet. */
  readonly isNew: boolean
  /** The trace in which it changed. */
  readonly trace?: string | null | undefined
}

export interface SyncOptions {
  readonly db: Database
  readonly client: GoogleClient
  readonly issuer: GoogleIssuer
  readonly sources: StateSources
  /** Service time, in milliseconds since the epoch. */
  readonly now: () => number
}

/** Writes the current state of a template or pass to Google. A target that no longer exists counts as done. */
export type Sync = (target: Target) => Promise<SyncOutcome>

export function createSync({ db, client, issuer, sources, now }: SyncOptions): Sync {
  /** @throws Error if the resource does not fit Google's table. */
  const put = async (type: string, resource: GoogleResource, isNew: boolean): Promise<SyncOutcome> => {
    requireFit(type, withoutEmpty(resource))
    return client.put(type, resource, isNew ? 'insert' : 'patch')
  }

  const syncTemplate = async ({ space, id, isNew }: Target): Promise<SyncOutcome> => {
    const [template, organization] = await Promise.all([
      readTemplate(db, space, id),
      sources.tenantNames.find(readSpace(space).tenantId),
    ])
    if (!template || organization === undefined) return DONE
    const state = {
      space,
      templateId: id,
      kind: template.kind,
      organization,
      name: template.name,
      brand: template.brand,
      locations: template.relevant_locations,
      options: template.options,
      fieldKeys: template.fields.map(({ key }) => key),
    }
    return put(GOOGLE_KINDS[state.kind].classes, classOf(state, issuer), isNew)
  }

  /**
   * Adds a message about the values that differ from those at Google. It comes before the new values: after an
   * interruption, the next attempt still sees the difference, and finds the message.
   */
  const tellChanges = async (type: string, state: PassState): Promise<SyncOutcome> => {
    const id = googleId(issuer.issuerId, state.place.passId)
    const found = await client.find(type, id)
    if (found.outcome !== 'done' || !found.object) return found
    const message = changeMessage(state, found.object)
    if (!message) return DONE
    return add(type, id, found.object, message)
  }

  /** Adds a message to an object. The oldest one makes room if Google would keep no more. */
  const add = async (
    type: string,
    id: string,
    { messages = [] }: KnownObject,
    message: GoogleMessage,
  ): Promise<SyncOutcome> => {
    requireFit('message', { ...message })
    if (messages.length >= MAX_MESSAGES) {
      const latest = messages.slice(1 - MAX_MESSAGES)
      const trimmed = await client.put(type, { id, messages: latest }, 'patch')
      if (trimmed.outcome !== 'done') return trimmed
    }
    return client.addMessage(type, id, message)
  }

  /**
   * Adds the messages to the holder that are due. After an interruption, the next attempt finds those that the object
   * has. A message that Google refuses is not sent again.
   */
  const sendMessages = async (type: string, state: PassState): Promise<SyncOutcome> => {
    const due = (state.messages ?? []).filter(({ isDueAtGoogle }) => isDueAtGoogle)
    if (due.length === 0) return DONE
    const id = googleId(issuer.issuerId, state.place.passId)
    const found = await client.find(type, id)
    if (found.outcome !== 'done' || !found.object) return found
    let refused: SyncOutcome = DONE
    let { messages = [] } = found.object
    for (const message of missingMessages(state, found.object, now())) {
      const sent = await add(type, id, { messages }, message)
      if (sent.outcome === 'later') return sent
      if (sent.outcome === 'refused') refused = sent
      else messages = [...messages.slice(1 - MAX_MESSAGES), message]
    }
    for (const { id } of due) await writeSentToGoogle(db, state.place.space, id)
    return refused
  }

  const syncPass = async ({ space, id, isNew }: Target): Promise<SyncOutcome> => {
    const state = await readPassState(db, { space, passId: id }, sources, now())
    if (!state) return DONE
    const { objects } = GOOGLE_KINDS[state.kind]
    const told = isNew || !canSpeak(state) ? DONE : await tellChanges(objects, state)
    if (told.outcome === 'later') return told
    const putObject = () => put(objects, objectOf(state, issuer), isNew)
    const sent = await putObject()
    if (sent.outcome === 'done') return sendMessages(objects, state)
    if (sent.outcome !== 'refused' || sent.status !== 404) return sent
    // The class is missing: the template is older than the Google Wallet settings, or Google has lost the class.
    const made = await syncTemplate({ space, id: state.templateId, isNew: true })
    const again = made.outcome === 'done' ? await putObject() : made
    return again.outcome === 'done' ? sendMessages(objects, state) : again
  }

  return (target) => (target.id.startsWith('tpl_') ? syncTemplate(target) : syncPass(target))
}
