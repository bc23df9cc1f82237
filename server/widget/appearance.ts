import type { Static } from 'typebox'
import type { AgentRow } from '../agents/find-agent.ts'
import type { Db } from '../db/database.ts'
import { chatStyles, picturesOf, shownName } from './looks.ts'
import { type Appearance, leadFields } from './schema.ts'

/** What the chat of a public agent looks like and offers. */
export async function appearanceOf(db: Db, agent: AgentRow): Promise<Static<typeof Appearance>> {
  const chat = chatStyles(agent)
  const [pictures, hasForm] = await Promise.all([picturesOf(db, agent), takesDetails(db, agent)])
  return {
    id: agent.id,
    name: shownName(agent),
    chat,
    linkHosts: (agent.allowed_domains ?? []).map(hostOf),
    initialMessages: agent.initial_messages,
    suggestedMessages: agent.suggested_messages as Static<typeof Appearance>['suggestedMessages'],
    pictures,
    leadForm: hasForm ? { fields: [...leadFields] } : null,
    voice: chat.showVoiceMode ? voiceOf(agent) : null,
  }
}

/** Of an allowed domain, which may stand for subdomains and name a port. */
const hostOf = (domain: string): string => domain.replace(/^\*\.|:\d+$/g, '').toLowerCase()

/** The form is there when the agent collects leads in the chat on websites. */
export async function takesDetails(db: Db, { account_id, id }: AgentRow): Promise<boolean> {
  const actions = await db
    .selectFrom('actions')
    .select('channels')
    .where('account_id', '=', account_id)
    .where('agent_id', '=', id)
    .where('type', '=', 'collect-leads')
    .where('enabled', '=', true)
    .execute()
  return actions.some(({ channels }) => channels === null || channels.includes('chat_widget'))
}

type VoiceSettings = {
  voice?: { speed?: number }
  transcriber?: { language?: string }
  initialMessage?: string
  errorMessage?: string
}

function voiceOf({ voice_settings }: AgentRow): Static<typeof Appearance>['voice'] {
  if (voice_settings === null) return null
  const { voice, transcriber, initialMessage, errorMessage } = voice_settings as VoiceSettings
  return {
    language: transcriber?.language ?? null,
    speed: voice?.speed ?? 1,
    initialMessage: initialMessage ?? null,
    errorMessage: errorMessage ?? null,
  }
}
