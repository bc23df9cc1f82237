import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { storable } from '../../platform/http/bodies/storable.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { type RawRoute, rawRoute } from '../../platform/http/server/serve-raw.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import { publishDeskEvent } from '../tickets/publish-desk-event.ts'
import { answerSurvey, MAX_COMMENT_LENGTH, showSurvey } from './contract.ts'
import { hashOf } from './send-survey.ts'
import { formPage, thanksPage } from './survey-pages.ts'

type Deps = Pick<Context, 'db' | 'notifier'>

const noSuchSurvey = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', { message: 'The survey does not exist.' })

/** Programs get JSON, and browsers get pages. */
export const surveyRoutes = (ctx: Deps): RawRoute[] => [
  rawRoute(showSurvey, async ({ params: { token }, request, reply }) => {
    const survey = await findSurvey(ctx.db, token)
    if (!survey) throw noSuchSurvey()
    const isAnswered = survey.answered_at !== null
    if (wantsPage(request)) return sendPage(reply, isAnswered ? thanksPage() : formPage(survey.subject))
    return { subject: survey.subject, answered: isAnswered }
  }),
  rawRoute(answerSurvey, async ({ params: { token }, request, reply }) => {
    await storeAnswer(ctx, token, readAnswer(request.body))
    return wantsPage(request) ? sendPage(reply, thanksPage()) : { success: true }
  }),
]

const wantsPage = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') ?? false

const sendPage = (reply: FastifyReply, html: string): FastifyReply =>
  reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    })
    .send(html)

async function findSurvey(db: Db, token: string) {
  return db
    .selectFrom('ticket_surveys')
    .innerJoin('tickets', 'tickets.id', 'ticket_surveys.ticket_id')
    .select(['ticket_surveys.id', 'ticket_surveys.answered_at', 'tickets.subject'])
    .where('ticket_surveys.token_hash', '=', hashOf(token))
    .executeTakeFirst()
}

type SurveyAnswer = { rating: number; comment: string | null }

function readAnswer(body: unknown): SurveyAnswer {
  const { rating, comment = '' } = recordOf(body)
  const stars = typeof rating === 'string' && /^[1-5]$/.test(rating) ? Number(rating) : rating
  if (typeof stars !== 'number' || !Number.isInteger(stars) || stars < 1 || stars > 5) {
    throw invalidField('rating', 'Must be a whole number from 1 to 5.')
  }
  if (comment !== null && typeof comment !== 'string')
    throw invalidField('comment', 'Must be a string or null.')
  const text = storable((comment ?? '').trim())
  if (text.length > MAX_COMMENT_LENGTH) {
    throw invalidField('comment', `Must have at most ${MAX_COMMENT_LENGTH} characters.`)
  }
  return { rating: stars, comment: text === '' ? null : text }
}

/** Stores the first answer. Throws RESOURCE_DUPLICATE for a second one. */
async function storeAnswer(ctx: Deps, token: string, { rating, comment }: SurveyAnswer): Promise<void> {
  await transact(ctx.db, async (trx) => {
    const answered = await trx
      .updateTable('ticket_surveys')
      .set({ rating, comment, answered_at: new Date() })
      .where('token_hash', '=', hashOf(token))
      .where('answered_at', 'is', null)
      .returning(['account_id', 'agent_id', 'ticket_id'])
      .executeTakeFirst()
    if (!answered) {
      if (!(await findSurvey(trx, token))) throw noSuchSurvey()
      throw new ApiError('RESOURCE_DUPLICATE', {
        message: 'The survey has already been answered. Thank you.',
      })
    }
    const { number } = await trx
      .selectFrom('tickets')
      .select('number')
      .where(ownRow(answered.account_id, answered.ticket_id))
      .executeTakeFirstOrThrow()
    await publishDeskEvent(
      ctx,
      trx,
      { accountId: answered.account_id, agentId: answered.agent_id },
      {
        type: 'ticket',
        data: { ticketNumber: number },
      },
    )
  })
}
