import { sql } from 'kysely'
import type { AgentRow } from '../../../agents/records/find-agent.ts'
import type { Context } from '../../../context.ts'
import { ASK_AGAIN, type AskAgain } from '../../../knowledge/training/enqueue-ask-again.ts'
import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { lockInsights } from '../days/lock-agent.ts'

type Deps = Pick<Context, 'db' | 'jobs' | 'knowledge'>

/** The most questions of an agent that are asked again in a minute, and on one day (UTC). */
const IN_A_MINUTE = 50
const IN_A_DAY = 500
const MINUTE_SECONDS = 60
/** The number of passages that an answer without a language model shows. */
const SHOWN = 3

type UnansweredQuestion = { id: string; question: string; status: 'open' | 'answered'; last_asked_at: Date }

/**
 * Searches the documents of an agent that has learned something for what it could not answer before, the newest
 * questions first. What is found now leaves the list; what has an answer of a person, but is still not found, returns
 * to it. While the index of the agent is incomplete, nothing is asked.
 */
export async function askAgain(needs: Deps, { accountId, agentId }: AskAgain, signal: AbortSignal) {
  const { db, jobs, knowledge } = needs
  const ref = { accountId, agentId }
  const agent = await db.selectFrom('agents').selectAll().where(ownRow(accountId, agentId)).executeTakeFirst()
  if (!agent?.last_trained_at) return
  const due = await dueQuestions(db, ref, agent)
  if (due.length === 0) return
  const room = await roomFor(db, ref)
  const searched = { id: agentId, accountId, knowledgeVersion: agent.knowledge_version }
  const later = (seconds: number) =>
    jobs.enqueue<AskAgain>(db, ASK_AGAIN, { accountId, agentId }, seconds, accountId)
  for (const one of due.slice(0, room.now)) {
    signal.throwIfAborted()
    const { isFound, isIndexing } = await knowledge.search(searched, [one.question], { limit: SHOWN })
    if (isIndexing) return void (await later(MINUTE_SECONDS))
    await storeOutcome(db, ref, agent, one, isFound)
  }
  if (due.length > room.now) await later(room.nextInSeconds)
}

/**
 * Returns the questions, newest first, that were asked before the last training and not again since: those of the list,
 * and those that got an answer which nobody has asked for yet.
 */
async function dueQuestions(
  db: Db,
  { accountId, agentId }: AgentRef,
  { knowledge_version, last_trained_at }: Pick<AgentRow, 'knowledge_version' | 'last_trained_at'>,
): Promise<UnansweredQuestion[]> {
  const { rows } = await sql<UnansweredQuestion>`
    select id, question, status, last_asked_at from unanswered_groups
    where account_id = ${accountId} and agent_id = ${agentId} and count > 0
      and coalesce(asked_again_version, 0) < ${knowledge_version}
      and (status = 'open' and last_asked_at < ${last_trained_at}
        or status = 'answered' and source_id in (
          select id from sources where account_id = ${accountId} and agent_id = ${agentId} and status = 'trained')
          and answered_at < ${last_trained_at} and answered_at > coalesce(asked_again_at, '-infinity'))
    order by last_asked_at desc limit ${sql.lit(IN_A_MINUTE + 1)}`.execute(db)
  return rows
}

/** Returns how many questions may be asked again now, and when there is room for more. */
async function roomFor(db: Db, { accountId, agentId }: AgentRef) {
  const now = Date.now()
  const minuteAgo = new Date(now - MINUTE_SECONDS * 1_000)
  const { rows } = await sql<{ lately: number; today: number }>`
    select count(*) filter (where asked_again_at > ${minuteAgo})::int as lately,
      coalesce(sum(asked_again_count), 0)::int as today
    from unanswered_groups
    where account_id = ${accountId} and agent_id = ${agentId} and asked_again_at >= ${dayOf(now)}`.execute(db)
  const { lately, today } = rows[0] ?? { lately: 0, today: 0 }
  const left = Math.max(0, IN_A_DAY - today)
  const room = Math.min(left, Math.max(0, IN_A_MINUTE - lately))
  const tomorrow = Math.ceil((dayOf(now).getTime() + DAY_MS - now) / 1_000)
  return { now: room, nextInSeconds: left > room ? MINUTE_SECONDS : tomorrow }
}

const DAY_MS = 86_400_000

const dayOf = (time: number): Date => new Date(time - (time % DAY_MS))

/** Stores the outcome, unless somebody has answered or dismissed the question, or asked it, in the meantime. */
async function storeOutcome(
  db: Db,
  { accountId, agentId }: AgentRef,
  { knowledge_version }: Pick<AgentRow, 'knowledge_version'>,
  { id, status, last_asked_at }: UnansweredQuestion,
  answered: boolean,
): Promise<void> {
  await transact(db, async (trx) => {
    await lockInsights(trx, agentId)
    const now = new Date()
    await sql`
      update unanswered_groups set asked_again_at = ${now}, asked_again_version = ${knowledge_version},
        asked_again_count = case when asked_again_at >= ${dayOf(now.getTime())} then asked_again_count + 1 else 1 end,
        status = ${answered ? 'answered' : 'open'},
        answered_at = ${answered && status === 'open' ? now : sql`answered_at`}
      where account_id = ${accountId} and id = ${id} and status = ${status}
        and last_asked_at = ${last_asked_at}`.execute(trx)
  })
}
