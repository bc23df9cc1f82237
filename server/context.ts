import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createAuthenticator } from './accounts/keys/keys.ts'
import { createEmbeddingMeter } from './accounts/plans/embedding-usage.ts'
import { createModelMeter } from './accounts/plans/model-usage.ts'
import { createSessions } from './accounts/sign-in/sessions/sessions.ts'
import { createToolkits } from './actions/tools/toolkits.ts'
import { createBuiltinModel } from './ai/built-in/builtin-model.ts'
import { traceEmbedding, traceSideCall } from './ai/calls/trace-call.ts'
import { createKnownFailures } from './ai/failures/known-failures.ts'
import { modelsFolder } from './ai/local/fetched-models.ts'
import { HUB_MODELS, type HubModel } from './ai/local/hub-models.ts'
import { createModelFetcher } from './ai/local/model-fetcher.ts'
import { createModels } from './ai/models.ts'
import { createMailParser } from './channels/email/parse/mail-parser.ts'
import type { Config } from './config.ts'
import { readAttachment } from './conversations/attachments/attachments.ts'
import { createTurnTraces } from './conversations/explanations/trace-turn.ts'
import { createIndexer } from './conversations/search/index/index-conversations.ts'
import { createFollowers } from './conversations/stream/generation-log.ts'
import { createGenerations, createOrphans } from './conversations/turn/generations.ts'
import { createExtractor } from './knowledge/documents/extractor.ts'
import { createOcr } from './knowledge/ocr/ocr.ts'
import { ocrFolder } from './knowledge/ocr/ocr-folder.ts'
import { presentSourcesOf } from './knowledge/search/answering/citations.ts'
import { createKnowledge } from './knowledge/search/knowledge.ts'
import { createMainThreadScheduler } from './platform/concurrency/fair-shares.ts'
import type { Availability } from './platform/db/connections/availability.ts'
import { requireServerVersion } from './platform/db/connections/server-version.ts'
import { type Database, type Db, openEmbedded, openPostgres } from './platform/db/database.ts'
import { localNotifier, postgresNotifier } from './platform/db/notifier.ts'
import type { AgentRef } from './platform/db/refs.ts'
import { type DiskSpace, ROOM_ENOUGH, watchDiskSpace } from './platform/db/upkeep/disk-space.ts'
import { beatingProcess, soleProcess } from './platform/db/upkeep/processes.ts'
import { upgrade } from './platform/db/upkeep/upgrade.ts'
import { scheduleVacuum } from './platform/db/upkeep/vacuum.ts'
import { createGuardedFetcher } from './platform/fetch/guard/guarded-fetcher.ts'
import { createRenderer } from './platform/fetch/render/renderer.ts'
import { createBodyBudgets } from './platform/http/bodies/admit-bodies.ts'
import { createUploads } from './platform/http/bodies/uploads.ts'
import { memoryRateLimiter, type RateLimiter } from './platform/http/limits/rate-limit.ts'
import { createMaintenance } from './platform/http/server/gate.ts'
import { openJobs } from './platform/jobs/open-jobs.ts'
import { createActivity } from './platform/jobs/recurring-jobs.ts'
import { createLog } from './platform/log.ts'
import { openSecrets } from './platform/secrets/secret-key.ts'
import type { Secrets } from './platform/secrets/secrets.ts'
import { createTraceExporter, type TraceExporter } from './platform/trace-exporter.ts'
import { VERSION } from './platform/version.ts'
import { escalation, ticketsToLearn, turnReactions } from './reactions.ts'

const USER_AGENT = `Parley/${VERSION} (self-hosted agent service)`

/** Everything that has state. It is created once, passed explicitly, and closed once. */
export type Context = Awaited<ReturnType<typeof createContext>>

/** The parts that tests replace. */
type Overrides = { database?: Database; log?: Logger; maxUnsaved?: number; hubModels?: readonly HubModel[] }

/** Opens and migrates the database, and creates everything that depends on it. */
export async function createContext(config: Config, overrides: Overrides = {}) {
  const log = overrides.log ?? createLog(config.logLevel, config.logFormat)
  const database =
    overrides.database ??
    (config.databaseUrl ? openPostgres(config.databaseUrl) : await openEmbedded(config.dataDir))
  logOutages(database.availability, log)
  try {
    await requireServerVersion(database.db)
    await upgrade(database, config.dataDir, (line) => log.info(line))
    return await createParts(config, { ...overrides, database, log })
  } catch (error) {
    await database.close()
    throw error
  }
}

type Opened = Overrides & { database: Database; log: Logger }

async function createParts(config: Config, { database, log, ...overrides }: Opened) {
  const { db, embedded, availability } = database
  const onError = (error: unknown) => log.error({ err: error }, 'background error')
  const space = spaceOf(config, log)
  // With PostgreSQL, the disk of this machine only holds files.
  const databaseSpace = embedded ? space : ROOM_ENOUGH
  const secrets = await openSecrets(db, config.secretKey, config.dataDir)
  const onBroken = (error: unknown): void => {
    availability.look()
    onError(error)
  }
  const notifier = database.url ? postgresNotifier(database.url, onBroken) : localNotifier()
  const activity = createActivity()
  const vacuum = embedded ? scheduleVacuum(db, activity.lastAt, onError) : null
  const process = database.url ? await beatingProcess(database.url, onBroken) : await soleProcess(db)
  const jobs = openJobs({
    db,
    process,
    availability,
    space: databaseSpace,
    notifier,
    onError,
    onDone: activity.note,
  })
  const limiter = await limiterOf(config, log)
  const exporter = config.otlp && createTraceExporter(config.otlp, log)
  const known = overrides.hubModels ?? HUB_MODELS
  const forModels = { log, traces: exporter, onError, known }
  const { models, modelFetcher, knownFailures, meters } = modelsOf(config, db, forModels)
  const { fetcher, renderer } = fetchersOf(config, onError)
  const extractor = createExtractor()
  const ocr = createOcr({ folder: ocrFolder(config.dataDir), maxPages: config.ocrPages })
  const mailParser = createMailParser()
  const turns = createMainThreadScheduler()
  const stopping = new AbortController()
  // Every open stream listens.
  setMaxListeners(0, stopping.signal)
  const limits = overrides.maxUnsaved === undefined ? {} : { maxUnsaved: overrides.maxUnsaved }
  const generations = createGenerations({ db, notifier, process, turns, onError, ...limits })
  const reactions = turnReactions(notifier)
  const { searchUrl: search } = config
  return {
    config,
    log,
    db,
    embedded,
    availability,
    space,
    databaseSpace,
    activity,
    jobs,
    limiter,
    secrets,
    models,
    modelFetcher,
    knownFailures,
    fetcher,
    renderer,
    extractor,
    ocr,
    notifier,
    process,
    followers: createFollowers({ db, log, stopping: stopping.signal }),
    /** Aborted by `stop` when the process begins to end: streams that only listen end then. */
    stopping: stopping.signal,
    stop: () => stopping.abort(),
    generations,
    traces: exporter && createTurnTraces(exporter),
    orphans: createOrphans({ db, log, deliverAnswer: reactions.deliverAnswer }),
    ...reactions,
    solvedTickets: ticketsToLearn,
    toolkits: createToolkits({ db, fetcher, secrets, search, ...escalation(notifier), onError }),
    indexer: createIndexer(),
    mailParser,
    knowledge: createKnowledge({ db, models, log }),
    keys: createAuthenticator(db, onError),
    sessions: createSessions({ db, config, log, secrets }),
    maintenance: createMaintenance(db),
    ...filesOf(config, { db, secrets, space }),
    bodies: createBodyBudgets(),
    async close(jobsMs?: number) {
      vacuum?.stop()
      await generations.close()
      await jobs.close(jobsMs)
      await process.close()
      await notifier.close()
      await extractor.close()
      await ocr.close()
      await mailParser.close()
      await renderer?.close()
      await fetcher.close()
      await modelFetcher.close()
      await models.close()
      await exporter?.close()
      await knownFailures.close()
      for (const meter of meters) await meter.close()
      await limiter.close()
      await database.close()
    },
  }
}

function logOutages({ onChange, outage }: Availability, log: Logger): void {
  onChange((isDown) => {
    if (isDown) log.error({ outage: outage() }, 'the database is unavailable; requests are refused')
    else log.warn('the database is available again')
  })
}

type ForFiles = { db: Db; secrets: Secrets; space: DiskSpace }

function filesOf(config: Config, { db, secrets, space }: ForFiles) {
  const filesDir = join(config.dataDir, 'files')
  return {
    /** The folder of uploaded files, by account, agent and source. */
    filesDir,
    uploads: createUploads(join(config.dataDir, 'uploads'), space),
    readAttachment: (ref: AgentRef, id: string) => readAttachment(filesDir, db, ref, id),
    presentSources: presentSourcesOf({ config, secrets }),
  }
}

const spaceOf = ({ dataDir }: Config, log: Logger): DiskSpace =>
  watchDiskSpace(dataDir, (isFull) => {
    if (isFull) log.error('the disk of DATA_DIR is nearly full; writes are refused until there is room again')
    else log.warn('there is room again on the disk of DATA_DIR')
  })

type ForModels = {
  log: Logger
  traces: TraceExporter | null
  onError: (error: unknown) => void
  known: readonly HubModel[]
}

function modelsOf({ catalogue, dataDir }: Config, db: Db, { log, traces, onError, known }: ForModels) {
  const knownFailures = createKnownFailures(db, onError)
  const embeddingMeter = createEmbeddingMeter(db, onError)
  const modelMeter = createModelMeter(db, onError)
  const models = createModels({
    catalogue,
    builtin: createBuiltinModel(),
    fetchedInto: modelsFolder(dataDir),
    recordUse: knownFailures.note,
    noteTokens: embeddingMeter.note,
    noteCall(call) {
      modelMeter.note(call)
      traceSideCall(traces, call)
    },
    noteEmbedding: (call) => traceEmbedding(traces, call),
  })
  return {
    models,
    modelFetcher: createModelFetcher({ dataDir, models, log, known }),
    knownFailures,
    meters: [embeddingMeter, modelMeter],
  }
}

/** Without a browser, `renderer` is null, and scripts of pages are not run. */
function fetchersOf({ allowedPrivateHosts, browserPath }: Config, onError: (error: unknown) => void) {
  const fetching = { allowedPrivateHosts, userAgent: USER_AGENT }
  const renderer = browserPath === null ? null : createRenderer({ ...fetching, browserPath, onError })
  return { fetcher: createGuardedFetcher(fetching), renderer }
}

/** The client of Redis makes up a quarter of all modules, so it is imported only where it is needed. */
async function limiterOf({ rateLimit, redisUrl: url }: Config, log: Logger): Promise<RateLimiter> {
  if (!url) return memoryRateLimiter(rateLimit)
  const { redisRateLimiter } = await import('./platform/http/limits/redis-rate-limiter.ts')
  return redisRateLimiter({ url, ...rateLimit, onState: (problem) => noteRedis(log, problem) })
}

function noteRedis(log: Logger, problem: Error | null): void {
  if (problem)
    log.warn({ err: problem }, 'REDIS_URL cannot be used; each process counts rate limits for itself')
  else log.info('rate limits are shared again')
}
