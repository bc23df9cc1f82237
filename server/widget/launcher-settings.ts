import type { AgentRow } from '../agents/find-agent.ts'
import type { Db } from '../db/database.ts'
import { textOn } from './colours.ts'
import { type ChatStyles, chatStyles, picturesOf, shownName } from './looks.ts'

/** What the script on the owner's page has to know before the chat is opened. */
export type LauncherSettings = {
  name: string
  theme: ChatStyles['theme']
  align: ChatStyles['alignChatButton']
  color: string
  /** Of what stands on it. */
  textColor: string
  icon: string | null
  autoOpenAfter: number | null
  mobileAutoOpenAfter: number | null
}

export async function launcherSettings(db: Db, agent: AgentRow): Promise<LauncherSettings> {
  const chat = chatStyles(agent)
  const { icon } = await picturesOf(db, agent)
  return {
    name: shownName(agent),
    theme: chat.theme,
    align: chat.alignChatButton,
    color: chat.buttonColor,
    textColor: textOn(chat.buttonColor),
    icon,
    autoOpenAfter: chat.autoOpenChatWindowAfter,
    mobileAutoOpenAfter: chat.mobile.showAutoOpen ? (chat.mobile.autoOpenChatWindowAfter ?? null) : null,
  }
}
