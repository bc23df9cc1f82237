import type { Static } from 'typebox'
import { chatChannel } from '../agents/chat-channel.ts'
import type { AgentRow } from '../agents/find-agent.ts'
import { defaultStyles, type Styles } from '../agents/styles-schema.ts'
import type { Db } from '../db/database.ts'
import type { Appearance } from './schema.ts'

type WholeStyles = Static<typeof Styles>
export type ChatStyles = WholeStyles['chat']
/** What the chat looks like in the middle of the page; each group is whole. */
export type StageStyles = {
  [Name in keyof WholeStyles['centerStage']]: WholeStyles['centerStage'][Name] extends unknown[]
    ? WholeStyles['centerStage'][Name]
    : WholeStyles['centerStage'][Name] extends object
      ? Required<WholeStyles['centerStage'][Name]>
      : WholeStyles['centerStage'][Name]
}

/** The fields that both places have: those of the stage hold while it is on. */
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
  const chat = {
    ...(defaultStyles.chat as unknown as ChatStyles),
    ...(agent.styles.chat as Partial<ChatStyles>),
  }
  const stage = stageStyles(agent)
  if (!stage) return chat
  return { ...chat, ...Object.fromEntries(SHARED.map((name) => [name, stage[name]])) }
}

/** null: the chat has its place in a corner. */
export function stageStyles(agent: AgentRow): StageStyles | null {
  if (chatChannel(agent) !== 'center_stage') return null
  const stored: Record<string, unknown> = agent.styles.centerStage
  const whole = Object.entries(defaultStyles.centerStage).map(([name, value]) => {
    const own = stored[name] ?? value
    const isGroup = typeof value === 'object' && !Array.isArray(value)
    return [name, isGroup ? { ...value, ...(own as object) } : own]
  })
  return Object.fromEntries(whole) as StageStyles
}

/** What visitors read as its name. */
export const shownName = (agent: AgentRow): string => chatStyles(agent).displayName || agent.name

/** A new picture has a new address. */
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
