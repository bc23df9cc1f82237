import { sql } from 'kysely'
import { probeModels } from '../../models/catalogue/probe-models.ts'
import { type Command, CommandFailure } from '../command.ts'

const NUMBER_BYTES = 4

export const doctor: Command = {
  name: 'doctor',
  usage: '',
  summary:
    'Sends a small request to each model, the embedding model and the reranker, and says what to do when one fails',
  options: {},
  async run({ db, openModels }) {
    const { catalogue, models } = openModels()
    const findings = await probeModels(catalogue, models, async (space) => {
      const row = await db
        .selectFrom('chunk_vectors')
        .select(sql<number>`octet_length(vector) / ${sql.lit(NUMBER_BYTES)}`.as('numbers'))
        .where('space', '=', space)
        .limit(1)
        .executeTakeFirst()
      return row?.numbers ?? null
    })
    if (findings.some(({ ok }) => !ok))
      throw new CommandFailure(findings.map(({ sentence }) => sentence).join('\n'))
    return { findings }
  },
  print: ({ findings }) =>
    ((findings ?? []) as { sentence: string }[]).map(({ sentence }) => sentence).join('\n'),
}
