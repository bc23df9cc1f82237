import type { AgentRow } from '../../../agents/records/find-agent.ts'
import type { Db } from '../../../platform/db/database.ts'
import { textOn } from './colours.ts'
import { launcherWords } from './launcher-words.ts'
import { PANEL_STYLE, STAGE_STYLE } from './panel-style.ts'
import {
  type ChatStyles,
  chatStyles,
  picturesOf,
  type StageStyles,
  shownName,
  stageStyles,
} from './widget-styles.ts'

/** What the script on the owner's page has to know before the chat is opened. */
export type LauncherSettings = {
  /** The CSS of the chat's panel. */
  style: string
  words: ReturnType<typeof launcherWords>
  theme: ChatStyles['theme']
  align: ChatStyles['alignChatButton']
  color: string
  /** The colour of the content on it. */
  textColor: string
  icon: string | null
  autoOpenAfter: number | null
  mobileAutoOpenAfter: number | null
  /** How the chat opens over the middle of the page; null when it opens in a corner. */
  stage: {
    width: StageStyles['width']
    closesOutside: boolean
    /** The number on the button until the chat is opened; `message` is the text beside it. */
    count: number | null
    message: string | null
  } | null
}

export async function launcherSettings(
  db: Db,
  agent: AgentRow,
  languages: string,
): Promise<LauncherSettings> {
  const chat = chatStyles(agent)
  const stage = stageStyles(agent)
  const { icon } = await picturesOf(db, agent)
  const own = chat.mobile.autoOpenChatWindowAfter
  return {
    style: PANEL_STYLE + (stage ? STAGE_STYLE : ''),
    words: launcherWords(languages, shownName(agent)),
    theme: chat.theme,
    align: chat.alignChatButton,
    color: chat.buttonColor,
    textColor: textOn(chat.buttonColor),
    icon,
    autoOpenAfter: chat.autoOpenChatWindowAfter,
    mobileAutoOpenAfter: chat.mobile.showAutoOpen && own?.enabled ? (own.value ?? 0) : null,
    stage: stage && {
      width: stage.width,
      closesOutside: stage.closeOnOutsideClick,
      count: stage.notificationIndicator.enabled ? stage.notificationIndicator.number : null,
      message: (stage.notificationMessage.enabled && stage.notificationMessage.text.trim()) || null,
    },
  }
}
