import type { Context } from '../../context.ts'
import { type Account, addSource } from '../../knowledge/sources/add-source.ts'
import { sizeOf } from '../../knowledge/sources/storage-limit.ts'
import { updateSource } from '../../knowledge/sources/update-source.ts'
import { violates } from '../../platform/db/connections/database-errors.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { attempt } from '../../platform/db/statements/transact.ts'

/** The external id of the source that holds a chatbot's only text in version 1. */
const TEXT = 'v1-text'
const NAME = 'Text'

type Deps = Pick<Context, 'db' | 'jobs' | 'filesDir'>

/** Replaces the chatbot's text. Throws SOURCE_SIZE_LIMIT_EXCEEDED. */
export async function setSourceText(
  ctx: Deps,
  account: Account,
  agentId: string,
  text: string,
): Promise<void> {
  for (;;) {
    const sourceId = await findText(ctx, { accountId: account.id, agentId })
    if (sourceId !== null) {
      await updateSource(ctx, account, { agentId, sourceId }, { content: text })
      return
    }
    try {
      await attempt(ctx.db, () => addText(ctx, account, agentId, text))
      return
    } catch (error) {
      // A concurrent request has created it meanwhile.
      if (!violates(error, 'sources_external_id')) throw error
    }
  }
}

async function findText({ db }: Deps, ref: AgentRef): Promise<string | null> {
  const row = await db
    .selectFrom('sources')
    .select('id')
    .where(ofAgent(ref))
    .where('external_id', '=', TEXT)
    .where('left_out', '=', false)
    .executeTakeFirst()
  return row?.id ?? null
}

async function addText(ctx: Deps, account: Account, agentId: string, text: string): Promise<void> {
  await addSource(ctx, account, agentId, {
    type: 'text',
    name: NAME,
    external_id: TEXT,
    content: json({ text }),
    size: sizeOf(text),
  })
}
