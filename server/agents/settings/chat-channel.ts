import type { AgentRow } from '../records/find-agent.ts'

/**
 * Returns the channel of the agent's website chat, by the names that `channelInstructions` and the `channels` of
 * actions use.
 */
export const chatChannel = ({ styles }: Pick<AgentRow, 'styles'>): 'center_stage' | 'chat_widget' =>
  styles.centerStage.enabled === true ? 'center_stage' : 'chat_widget'
