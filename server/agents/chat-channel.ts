import type { AgentRow } from './find-agent.ts'

/** The channel of the chat on websites, by the names that `channelInstructions` and the `channels` of actions use. */
export const chatChannel = ({ styles }: Pick<AgentRow, 'styles'>): 'center_stage' | 'chat_widget' =>
  (styles.centerStage as Record<string, unknown>).enabled === true ? 'center_stage' : 'chat_widget'
