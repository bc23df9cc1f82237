import type { Static } from 'typebox'
import type { AgentRow } from '../../../agents/records/find-agent.ts'
import { chatChannel } from '../../../agents/settings/chat-channel.ts'
import { defaultStyles, type Styles } from '../../../agents/settings/styles-schema.ts'
import type { Db } from '../../../platform/db/database.ts'
import { recordOf } from '../../../platform/unknown-values.ts'
import type { Appearance } from '../talk/schema.ts'

type WholeStyles = Static<typeof Styles>
export type ChatStyles = WholeStyles['chat']
/** The styles of the chat in the middle of the page; each group is complete. */
export type StageStyles = {
  [Name in keyof WholeStyles['centerStage']]: WholeStyles['centerStage'][Name] extends unknown[]
    ? WholeStyles['centerStage'][Name]
    : WholeStyles['centerStage'][Name] extends object
      ? Required<WholeStyles['centerStage'][Name]>
      : WholeStyles['centerStage'][Name]
}

/** The fields that both placements have. Those of the stage apply while it is enabled. */
const SHARED = [
  'theme',
  'headerColor',
  'userMessageColor',
  'buttonColor',
  'showFeedback',
  'showCopyButton',
  'showDictation',
  'showAttachments',
  'showVoiceMode',
  'displayName',
  'messagePlaceholder',
  'footer',
  'dismissableNotice',
] as const

export function chatStyles(agent: AgentRow): ChatStyles {
  const chat: ChatStyles = { ...defaultStyles.chat, ...agent.styles.chat }
  const stage = stageStyles(agent)
  if (!stage) return chat
  return { ...chat, ...Object.fromEntries(SHARED.map((name) => [name, stage[name]])) }
}

/** Returns the styles of the stage; null when the chat is in a corner of the page. */
export function stageStyles(agent: AgentRow): StageStyles | null {
  if (chatChannel(agent) !== 'center_stage') return null
  const stored: Record<string, unknown> = agent.styles.centerStage
  const whole = Object.entries(defaultStyles.centerStage).map(([name, value]) => {
    const own = stored[name] ?? value
    const isGroup = typeof value === 'object' && !Array.isArray(value)
    return [name, isGroup ? { ...value, ...recordOf(own) } : own]
  })
  return Object.fromEntries(whole) as StageStyles
}

/** Returns the name of the agent that visitors see. */
export const shownName = (agent: AgentRow): string => chatStyles(agent).displayName || agent.name

/** Returns the URLs of the pictures; a new picture has a new URL. */
export async function picturesOf(
  db: Db,
  { account_id, id }: AgentRow,
): Promise<Static<typeof Appearance>['pictures']> {
  const rows = await db
    .selectFrom('agent_pictures')
    .select(['kind', 'tag'])
    .where('account_id', '=', account_id)
    .where('agent_id', '=', id)
    .execute()
  const path = (name: string, tag: string | undefined): string | null =>
    tag === undefined ? null : `/pictures/${id}/${name}?v=${tag}`
  const tags = new Map(rows.map(({ kind, tag }) => [kind, tag]))
  return { icon: path('icon', tags.get('icon')), profile: path('profile-picture', tags.get('profile')) }
}
