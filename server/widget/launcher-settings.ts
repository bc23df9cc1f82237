import type { Static } from 'typebox'
import type { AgentRow } from '../agents/find-agent.ts'
import { defaultStyles, type Styles } from '../agents/styles-schema.ts'
import type { Db } from '../db/database.ts'
import { textOn } from './colours.ts'

type Chat = Static<typeof Styles>['chat']

/** What the script on the owner's page has to know before the chat is opened. */
export type LauncherSettings = {
  name: string
  theme: Chat['theme']
  align: Chat['alignChatButton']
  color: string
  /** Of what stands on it. */
  textColor: string
  icon: string | null
  autoOpenAfter: number | null
  mobileAutoOpenAfter: number | null
}

export const chatStyles = ({ styles }: AgentRow): Chat => ({
  ...defaultStyles.chat,
  ...(styles.chat as Partial<Chat>),
})

export async function launcherSettings(db: Db, agent: AgentRow): Promise<LauncherSettings> {
  const chat = chatStyles(agent)
  return {
    name: chat.displayName || agent.name,
    theme: chat.theme,
    align: chat.alignChatButton,
    color: chat.buttonColor,
    textColor: textOn(chat.buttonColor),
    icon: await iconPath(db, agent.id),
    autoOpenAfter: chat.autoOpenChatWindowAfter,
    mobileAutoOpenAfter: chat.mobile.showAutoOpen ? (chat.mobile.autoOpenChatWindowAfter ?? null) : null,
  }
}

async function iconPath(db: Db, agentId: string): Promise<string | null> {
  const icon = await db
    .selectFrom('agent_pictures')
    .select('tag')
    .where('agent_id', '=', agentId)
    .where('kind', '=', 'icon')
    .executeTakeFirst()
  return icon ? `/pictures/${agentId}/icon?v=${icon.tag}` : null
}
