const WORDS: Record<string, string> = {
  'account.create': 'created the workspace',
  'account.export': 'exported the workspace',
  'account.idle': 'changed when idle conversations end',
  'account.import': 'imported the workspace',
  'account.plan': 'changed the plan',
  'account.rename': 'renamed the workspace',
  'account.set-up': 'set up the workspace',
  'account.setup-link': 'made a set-up link',
  'action.create': 'added an action',
  'action.delete': 'deleted an action',
  'action.update': 'changed an action',
  'agent.clone': 'copied an agent',
  'agent.create': 'created an agent',
  'agent.delete': 'deleted an agent',
  'agent.guardrails': 'changed what an agent may spend or say',
  'agent.publish': 'published the draft of an agent',
  'agent.retention': 'changed how long conversations are kept',
  'agent.roll-back': 'rolled an agent back',
  'agent.update': 'changed an agent',
  'connection.delete': 'disconnected a channel',
  'connection.put': 'connected a channel',
  'conversation.end': 'ended a conversation',
  'conversation.handback': 'handed a conversation back to the agent',
  'conversation.takeover': 'took over a conversation',
  'credits.grant': 'granted credits',
  'identity.delete': 'removed the secret for signed-in visitors',
  'identity.put': 'set the secret for signed-in visitors',
  'invitation.accept': 'accepted an invitation',
  'invitation.create': 'invited somebody',
  'invitation.revoke': 'took an invitation back',
  'key.create': 'made an API key',
  'key.revoke': 'revoked an API key',
  'member.create': 'added a member',
  'member.remove': 'removed a member',
  'member.rename': 'changed their name',
  'member.reset-link': 'made a link for a new password',
  'member.update': 'changed a member',
  'model.fetch': 'began to fetch an embedding model',
  'password.ask-reset': 'asked for a new password',
  'password.change': 'changed their password',
  'password.reset': 'chose a new password',
  'procedure.create': 'added a procedure',
  'procedure.delete': 'deleted a procedure',
  'procedure.update': 'changed a procedure',
  'second-factor.enable': 'switched a second factor on',
  'second-factor.remove': 'removed a second factor',
  'identity.remove': 'unlinked a member from the identity provider',
  'session.create': 'signed in',
  'session.end': 'signed out',
  'session.refuse': 'was refused at sign-in',
  'source.create': 'added a source',
  'source.delete': 'removed a source',
  'source.update': 'changed a source',
  'user.erase': 'erased a person',
  'user.export': 'exported a person',
}

/** Describes an action. An action without a description of its own is shown by its name. */
export const wordsOfAction = (action: string): string =>
  WORDS[action] ?? action.replace('.', ': ').replaceAll('-', ' ')

/** Describes the actor when no member or key has that name any more. */
export function wordsOfActor(actor: string): string {
  if (actor === 'operator') return 'The operator'
  if (actor === 'nobody') return 'Somebody'
  if (actor.startsWith('key:')) return 'A key that is gone'
  return actor.startsWith('member:') ? 'A member who is gone' : actor
}

const FIELDS: Record<string, string> = {
  agentIds: 'agents',
  memberId: 'member',
  allowedDomains: 'allowed sites',
  temp: 'temperature',
  from: 'before',
}

type Names = ReadonlyMap<string, string>

/** Converts a name such as `creditLimit` to words. */
const plain = (name: string): string =>
  FIELDS[name] ?? name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/
const AGENT_ID = /^[\w-]{21}$/

/** Returns the name of what an id refers to. The id of something deleted is left out, because it tells readers nothing. */
function named(text: string, names: Names): string {
  const name = names.get(text)
  if (name !== undefined) return name
  if (UUID.test(text)) return ''
  return AGENT_ID.test(text) ? 'an agent that is gone' : text
}

function wordsOfValue(value: unknown, names: Names): string {
  if (value === null) return 'none'
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (Array.isArray(value))
    return value
      .map((one) => wordsOfValue(one, names))
      .filter(Boolean)
      .join(', ')
  if (typeof value === 'object') return wordsOfDetail(value, names)
  return named(String(value), names)
}

/**
 * Formats the details of an entry as plain text instead of JSON. Lists of changed fields are left out where they tell
 * nothing.
 */
export const wordsOfDetail = (detail: object, names: Names, action = ''): string =>
  Object.entries(detail)
    .map(([name, value]) => {
      if (name === 'fields' && Array.isArray(value)) {
        const fields = value.filter((field) => !Object.hasOwn(detail, String(field)))
        return action.endsWith('.create') || fields.length === 0
          ? ''
          : `changed: ${fields.map(plainOf).join(', ')}`
      }
      if (name === 'name' && NAMED.test(action)) return ''
      // Without a limit to some agents, a role is for all of them.
      const words = name === 'agentIds' && value === null ? 'all agents' : wordsOfValue(value, names)
      return words === '' || words === 'all agents' ? words : `${plain(name)}: ${words}`
    })
    .filter(Boolean)
    .join('; ')

const plainOf = (value: unknown): string => plain(String(value))

/** The names of objects whose audit entries include a name. */
const NAMED = /^(?:action|procedure)\./

/** Names the object of an entry; ids are replaced with names that the page or the entry knows, or left out. */
export function wordsOfTarget(
  {
    action,
    target,
    detail,
  }: { action: string; target: string | null; detail: Record<string, unknown> | null },
  names: Names,
): string {
  if (NAMED.test(action) && typeof detail?.name === 'string') return detail.name
  const words = (target ?? '').split('/').map((part) => named(part, names))
  return words.filter(Boolean).join(' / ') || '–'
}
