import type { Logger } from 'pino'
import type { Db } from '../db/database.ts'
import type { AccountId } from '../db/tables.ts'
import { storable } from '../http/storable.ts'
import { askForText } from '../models/call-model.ts'
import type { ResolvedModel } from '../models/models.ts'
import type { LiveGeneration } from './live-generation.ts'
import { textOf } from './parts.ts'
import { titleFromWords } from './title.ts'

const ASK =
  'Write a title of at most eight words for this conversation, in its language. Answer with the title alone, without quotes.'
/** Of an answer, in characters; what is longer is no title. */
const LONGEST = 1_000

/**
 * Replaces the title made of the first words by one of the model's. It costs the customer no credits, and
 * when it fails the first title stays.
 */
export async function improveTitle(
  { db, log }: { db: Db; log: Logger },
  model: ResolvedModel,
  { accountId }: { accountId: AccountId },
  live: LiveGeneration,
  question: string,
): Promise<void> {
  const said = textOf(live)
  if (said === '') return
  try {
    const exchange = `Customer: ${question.slice(0, 2_000)}\nAgent: ${said.slice(0, 2_000)}`
    const ask = { system: ASK, user: exchange, maxOutputTokens: 40, longest: LONGEST }
    const title = (await askForText(model, ask, AbortSignal.timeout(15_000))) ?? ''
    const short = titleFromWords(storable(title).replace(/^["'“„«\s]+|["'”“»\s]+$/g, ''))
    if (short === '') return
    await db
      .updateTable('conversations')
      .set({ title: short })
      .where('account_id', '=', accountId)
      .where('id', '=', live.ids.conversationId)
      .execute()
  } catch (error) {
    log.debug({ err: error }, 'no title by the model')
  }
}
