import type { Static } from 'typebox'
import type { AgentRow } from '../agents/find-agent.ts'
import { defaultStyles, type Styles } from '../agents/styles-schema.ts'
import type { Db } from '../db/database.ts'
import type { Appearance } from './schema.ts'

export type ChatStyles = Static<typeof Styles>['chat']

export const chatStyles = ({ styles }: AgentRow): ChatStyles => ({
  ...defaultStyles.chat,
  ...(styles.chat as Partial<ChatStyles>),
})

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
