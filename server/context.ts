import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { createAuthenticator } from './accounts/authenticate.ts'
import { createToolkits } from './actions/toolkits.ts'
import { createMailParser } from './channels/email/mail-parser.ts'
import type { Config } from './config.ts'
import { createFollowers } from './conversations/follow-elsewhere.ts'
import { createGenerations } from './conversations/generations.ts'
import type { CustomerWrote } from './conversations/start-generation.ts'
import { type Database, openEmbedded, openPostgres } from './db/database.ts'
import { migrate } from './db/migrate.ts'
import { localNotifier, postgresNotifier } from './db/notifier.ts'
import { requireServerVersion } from './db/server-version.ts'
import { scheduleVacuum } from './db/vacuum.ts'
import { createGuardedFetcher } from './fetch/guarded-fetcher.ts'
import { createRenderer } from './fetch/render/renderer.ts'
import { openTicket } from './helpdesk/open-ticket.ts'
import { storeCustomerMessage } from './helpdesk/store-customer-message.ts'
import { createMaintenance } from './http/maintenance.ts'
import { memoryRateLimiter, type RateLimiter } from './http/rate-limit.ts'
import { openJobs } from './jobs/jobs.ts'
import { createExtractor } from './knowledge/extract/extractor.ts'
import { createKnowledge } from './knowledge/knowledge.ts'
import { createBuiltinModel } from './models/builtin/builtin-model.ts'
import { createModels } from './models/models.ts'
import { loadWordVectors } from './models/static/word-vectors.ts'
import { createIndexer } from './search/index-conversations.ts'
import { openSecrets } from './secrets/secret-key.ts'

/** Errors of the databases carry the statement with its values: messages of customers. */
const redact = {
  paths: ['err.query', 'err.params', 'err.detail', 'err.cause.query', 'err.cause.params', 'err.cause.detail'],
  remove: true,
}
const USER_AGENT = 'Parley/0.1 (self-hosted agent service)'

/** All that has state: made once, passed explicitly, closed once. */
export type Context = Awaited<ReturnType<typeof createContext>>

/** What tests replace. */
export type Overrides = { database?: Database; log?: Logger }

/** Opens the database (migrating it) and everything that stands on it. */
export async function createContext(config: Config, overrides: Overrides = {}) {
  const log = overrides.log ?? pino({ level: config.logLevel, redact }, pino.destination(2))
  const database =
    overrides.database ??
    (config.databaseUrl ? openPostgres(config.databaseUrl) : await openEmbedded(config.dataDir))
  const { db, embedded } = database
  const onError = (error: unknown) => log.error({ err: error }, 'background error')
  try {
    await requireServerVersion(db)
    await migrate(db)
    const secrets = await openSecrets(db, config.secretKey, config.dataDir)
    const vacuum = embedded ? scheduleVacuum(db, onError) : null
    const jobs = await openJobs({ db, embedded, onError })
    const limiter = config.redisUrl ? await sharedLimiter(config.redisUrl, log) : memoryRateLimiter()
    const words = loadWordVectors()
    const models = createModels({ catalogue: config.catalogue, builtin: createBuiltinModel(words) })
    const { allowedPrivateHosts, browserPath } = config
    const fetching = { allowedPrivateHosts, userAgent: USER_AGENT }
    const fetcher = createGuardedFetcher(fetching)
    const renderer = browserPath === null ? null : createRenderer({ ...fetching, browserPath, onError })
    const extractor = createExtractor()
    const notifier = database.url ? postgresNotifier(database.url, onError) : localNotifier()
    const generations = createGenerations({ db, notifier, onError })
    const customerWrote: CustomerWrote = async (trx, conversation, message) => {
      await storeCustomerMessage(trx, conversation, { ...message, attachments: [] })
      await notifier.publish(trx, 'helpdesk', conversation.agent_id)
    }
    return {
      config,
      log,
      db,
      embedded,
      jobs,
      limiter,
      secrets,
      words,
      models,
      fetcher,
      /** null: the scripts of pages are not run. */
      renderer,
      extractor,
      notifier,
      followers: createFollowers({ db, notifier, log }),
      generations,
      customerWrote,
      toolkits: createToolkits({
        db,
        fetcher,
        secrets,
        search: config.searchUrl,
        openTicket: (trx, wanted) => openTicket({ notifier }, trx, wanted),
        onError,
      }),
      indexer: createIndexer(),
      mailParser: createMailParser(),
      knowledge: createKnowledge({ db, words, embedderOf: models.embedderOf, log }),
      keys: createAuthenticator(db, onError),
      maintenance: createMaintenance(db),
      /** Uploaded files lie here, by account, agent and source. */
      filesDir: join(config.dataDir, 'files'),
      async close() {
        vacuum?.stop()
        await generations.close()
        await notifier.close()
        await jobs.close()
        await extractor.close()
        await renderer?.close()
        await fetcher.close()
        await models.close()
        await limiter.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Its client is a quarter of all modules: it is loaded where it is wanted. */
async function sharedLimiter(url: string, log: Logger): Promise<RateLimiter> {
  const { redisRateLimiter } = await import('./http/redis-rate-limiter.ts')
  return redisRateLimiter({ url, onState: (problem) => noteRedis(log, problem) })
}

function noteRedis(log: Logger, problem: Error | null): void {
  if (problem)
    log.warn({ err: problem }, 'REDIS_URL cannot be used: each process counts rate limits for itself')
  else log.info('rate limits are shared again')
}
