import { probeModels } from '../../ai/catalogue/probe-models.ts'
import { OCR_ADVICE, ocrFolder, ocrLanguages } from '../../knowledge/ocr/ocr-folder.ts'
import { describeLargeAgents } from '../../knowledge/search/embedded-limit.ts'
import { ISOLATION_ADVICE, isIsolated } from '../../platform/child-process/launch.ts'
import { preparePgvector } from '../../platform/db/upkeep/pgvector.ts'
import { CommandFailure, command } from '../command.ts'

export const doctor = command({
  name: 'doctor',
  usage: '',
  summary:
    'Sends a small request to each model, the embedding model and the reranker, says what to do when one fails, and which agents are near the limit of the embedded database',
  options: {},
  async run({ db, embedded, dataDir, openModels }) {
    const { catalogue, models } = openModels()
    const findings = await probeModels(catalogue, models, async (space) => {
      const row = await db
        .selectFrom('vector_spaces')
        .select('dimensions')
        .where('name', '=', space)
        .executeTakeFirst()
      return row?.dimensions ?? null
    })
    const lack = models.embedding ? await preparePgvector(db) : null
    if (lack !== null) findings.push({ what: 'embeddings', name: 'pgvector', ok: false, sentence: lack })
    if (findings.some(({ ok }) => !ok))
      throw new CommandFailure(findings.map(({ sentence }) => sentence).join('\n'))
    const large = embedded ? await describeLargeAgents(db) : []
    const hints = [
      ...large.map((sentence) => ({ what: 'database', ok: true, sentence })),
      ...(isIsolated() ? [] : [{ what: 'documents', ok: true, sentence: ISOLATION_ADVICE }]),
      ...(ocrLanguages(ocrFolder(dataDir)).length > 0
        ? []
        : [{ what: 'documents', ok: true, sentence: OCR_ADVICE }]),
    ]
    return { findings: [...findings, ...hints] }
  },
  print: ({ findings }) => findings.map(({ sentence }) => sentence).join('\n'),
})
