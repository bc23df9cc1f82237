import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { planNames } from './accounts/plans/plans.ts'
import { type Catalogue, CatalogueError, parseCatalogue } from './ai/catalogue/catalogue.ts'
import { parsePrivateHosts } from './platform/fetch/guard/private-hosts.ts'
import { LIMIT, type RateWindow, WINDOW_MS } from './platform/http/limits/rate-limit.ts'
import type { LogFormat } from './platform/log.ts'
import type { OtlpSettings } from './platform/trace-exporter.ts'
import { messageOf, recordOf } from './platform/unknown-values.ts'

/** The settings from the environment, validated once at start. docs/operations/configuration.md explains them. */
export type Config = {
  host: string
  port: number
  /** The absolute path of the data folder. */
  dataDir: string
  /** The URL of the PostgreSQL server; null for the embedded database in dataDir. */
  databaseUrl: string | null
  redisUrl: string | null
  publicUrl: string | null
  /** The rate limit of each key and address. */
  rateLimit: RateWindow
  /** The rate limits from PLANS_FILE, for plans that have their own. */
  planRateLimits: Readonly<Record<string, RateWindow | undefined>>
  /** The secret key; null when it is generated and stored in dataDir. */
  secretKey: string | null
  trustedProxies: string[]
  /**
   * The header in which a trusted proxy names the visitor's country, in lower case; null when countries are not
   * known.
   */
  countryHeader: string | null
  /** How many messages the visitors of an agent without a credit limit may send in a day; 0: any number. */
  visitorMessagesPerDay: number
  logLevel: string
  logFormat: LogFormat
  /** Whether every request is logged. */
  logRequests: boolean
  /** The models of MODELS_FILE and the OPENAI_* variables. */
  catalogue: Catalogue
  /** The private hosts that the guarded fetcher may reach. */
  allowedPrivateHosts: string[]
  /** The URL of the search service for web-search actions; null when there is none. */
  searchUrl: string | null
  /**
   * The path of the browser that runs the scripts of pages without text of their own; null when no scripts are run.
   */
  browserPath: string | null
  /** The most pages of a document whose text is recognised. */
  ocrPages: number
  /** The mail server for the service's own mails to owners of agents without a mailbox; null when there is none. */
  smtp: { login: SmtpLogin; from: string } | null
  /** The OpenID Connect provider by which members may sign in, too; null for none. */
  oidc: OidcProvider | null
  /** The applications at providers of mailboxes with which every account may connect one. */
  mailClients: Partial<Record<'google' | 'microsoft', { id: string; secret: string }>>
  /** The collector of traces; null when nothing is traced. */
  otlp: OtlpSettings | null
  seedDemo: boolean
  /** Whether the built-in responder answers when a model's provider fails before the first word. */
  builtinFallback: boolean
}

type OidcProvider = { issuer: string; clientId: string; clientSecret: string; name: string }

type SmtpLogin = {
  host: string
  port: number
  security: 'tls' | 'starttls' | 'none'
  username: string | null
  password: string | null
}

/** Thrown when the environment cannot be used, with one sentence per problem. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

const FORMATS: LogFormat[] = ['json', 'pretty']
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Reads the environment; throws ConfigError with all problems at once. An empty variable counts as unset. */
export function readConfig(
  env: Record<string, string | undefined>,
  isTerminal = process.stderr.isTTY === true,
): Config {
  const problems: string[] = []
  const read = <T>(name: string, fallback: T, parse: (text: string) => T): T => {
    const text = env[name]?.trim()
    if (!text) return fallback
    try {
      return parse(text)
    } catch (error) {
      problems.push(`${name}: ${messageOf(error)}`)
      return fallback
    }
  }
  const modelsFile = read<unknown>('MODELS_FILE', null, jsonFile)
  const openai = {
    baseUrl: read('OPENAI_BASE_URL', null, (text) => url(text, ['http:', 'https:'])),
    apiKey: read('OPENAI_API_KEY', null, (text) => text),
    model: read('OPENAI_MODEL', null, (text) => text),
    embeddingModel: read('EMBEDDING_MODEL', null, (text) => text),
    embeddingFolder: read('EMBEDDING_FOLDER', null, (text) => text),
    queryPrefix: prefix(env.EMBEDDING_QUERY_PREFIX),
    passagePrefix: prefix(env.EMBEDDING_PASSAGE_PREFIX),
  }
  const config: Config = {
    host: read('HOST', '127.0.0.1', (text) => text),
    port: read('PORT', 8080, portNumber),
    dataDir: resolve(read('DATA_DIR', './data', (text) => text)),
    databaseUrl: read('DATABASE_URL', null, (text) => url(text, ['postgres:', 'postgresql:'])),
    redisUrl: read('REDIS_URL', null, redisUrl),
    rateLimit: read('RATE_LIMIT', { limit: LIMIT, windowMs: WINDOW_MS }, rateWindow),
    planRateLimits: read('PLANS_FILE', {}, planRateLimits),
    publicUrl: read('PUBLIC_URL', null, (text) => url(text, ['http:', 'https:']).replace(/\/+$/, '')),
    secretKey: read('SECRET_KEY', null, secret),
    trustedProxies: read('TRUSTED_PROXIES', [], (text) => list(text).map(addressRange)),
    countryHeader: read('COUNTRY_HEADER', null, headerName),
    visitorMessagesPerDay: read('VISITOR_MESSAGES_PER_DAY', 5_000, wholeNumber),
    logLevel: read('LOG_LEVEL', 'info', (text) => oneOf(text, LEVELS)),
    logFormat: read('LOG_FORMAT', isTerminal ? 'pretty' : 'json', (text) => oneOf(text, FORMATS)),
    logRequests: read('LOG_REQUESTS', false, (text) => oneOf(text, ['0', '1']) === '1'),
    catalogue: catalogueOf(modelsFile, openai, env, problems),
    allowedPrivateHosts: read('ALLOWED_PRIVATE_HOSTS', [], privateHosts),
    searchUrl: read('SEARCH_URL', null, (text) => url(text, ['http:', 'https:'])),
    browserPath: read('BROWSER_PATH', null, program),
    ocrPages: read('OCR_PAGES', 200, wholeNumber),
    smtp: null,
    oidc: null,
    otlp: read('OTEL_EXPORTER_OTLP_ENDPOINT', null, (text) => otlpOf(text, env)),
    mailClients: {},
    builtinFallback: read('BUILTIN_FALLBACK', false, (text) => oneOf(text, ['0', '1']) === '1'),
    seedDemo: read('SEED_DEMO', true, (text) => oneOf(text, ['0', '1']) === '1'),
  }
  if (config.countryHeader && config.trustedProxies.length === 0)
    problems.push('COUNTRY_HEADER: needs TRUSTED_PROXIES, because otherwise anybody could claim a country.')
  const login = read('SMTP_URL', null, smtpLogin)
  const from = read('MAIL_FROM', null, mailAddress)
  if (login && from) config.smtp = { login, from }
  else if (login || from) problems.push('SMTP_URL, MAIL_FROM: one has no effect without the other.')
  const oidc = {
    issuer: read('OIDC_ISSUER', null, (text) => url(text, ['https:', 'http:']).replace(/\/+$/, '')),
    clientId: read('OIDC_CLIENT_ID', null, (text) => text),
    clientSecret: read('OIDC_CLIENT_SECRET', null, (text) => text),
    name: read('OIDC_NAME', 'single sign-on', (text) => text),
  }
  const { issuer, clientId, clientSecret, name } = oidc
  if (issuer && clientId && clientSecret && config.publicUrl)
    config.oidc = { issuer, clientId, clientSecret, name }
  else if (issuer || clientId || clientSecret)
    problems.push(
      'OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET: set all of them, and PUBLIC_URL, to which the provider redirects.',
    )
  for (const provider of ['google', 'microsoft'] as const) {
    const names = ['ID', 'SECRET'].map((part) => `MAIL_${provider.toUpperCase()}_CLIENT_${part}`)
    const [id, secret] = names.map((variable) => read(variable, null, (text) => text))
    if (id && secret) config.mailClients[provider] = { id, secret }
    else if (id || secret) problems.push(`${names.join(', ')}: one has no effect without the other.`)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function catalogueOf(
  ...[file, openai, env, problems]: [...Parameters<typeof parseCatalogue>, string[]]
): Catalogue {
  try {
    return parseCatalogue(file, openai, env)
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error
    problems.push(...error.problems)
    return { entries: [], auto: '', embedding: null, formerEmbedding: null }
  }
}

function privateHosts(text: string): string[] {
  const hosts = list(text)
  parsePrivateHosts(hosts)
  return hosts
}

/**
 * Parses a prefix, whose trailing spaces count. Double quotes protect them from tools that trim the environment, and
 * `""` means no prefix at all. Returns null when the variable is not set.
 */
function prefix(text: string | undefined): string | null {
  if (!text) return null
  return /^".*"$/s.test(text) ? text.slice(1, -1).replaceAll('\\n', '\n') : text
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error('must be a whole number like 5000; 0 means without limit')
  return Number(text)
}

function portNumber(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new Error(`must be a port number from 0 to 65535, not "${text}".`)
  return port
}

function url(text: string, protocols: string[]): string {
  if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
    // The value may contain a password, so the message does not repeat it.
    throw new Error(
      `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}.`,
    )
  }
  return text
}

/** Reads the settings of OpenTelemetry that this service knows. */
function otlpOf(text: string, env: Record<string, string | undefined>): OtlpSettings {
  const headers = (env.OTEL_EXPORTER_OTLP_HEADERS ?? '').split(',').filter((pair) => pair.trim() !== '')
  const endpoint = url(text, ['http:', 'https:'])
  // What a request cannot have would stand in the message of each that fails.
  const { username, password } = new URL(endpoint)
  if (username || password) throw new Error('must not have a password; use OTEL_EXPORTER_OTLP_HEADERS.')
  return {
    endpoint,
    headers: Object.fromEntries(headers.map(headerOf)),
    serviceName: env.OTEL_SERVICE_NAME?.trim() || 'parley',
  }
}

function headerOf(pair: string): [string, string] {
  const [name = '', ...value] = pair.split('=')
  try {
    const header: [string, string] = [name.trim(), decodeURIComponent(value.join('=').trim())]
    new Headers([header])
    if (value.length > 0) return header
  } catch {
    // The value may be a key, so the message does not repeat it.
  }
  throw new Error('OTEL_EXPORTER_OTLP_HEADERS must be name=value, separated by commas.')
}

function smtpLogin(text: string): SmtpLogin {
  const { protocol, hostname, port, username, password, searchParams } = new URL(
    url(text, ['smtp:', 'smtps:']),
  )
  if (!hostname) throw new Error('must name a host.')
  const isTls = protocol === 'smtps:'
  return {
    host: hostname,
    port: Number(port) || (isTls ? 465 : 587),
    security: isTls ? 'tls' : searchParams.get('security') === 'none' ? 'none' : 'starttls',
    username: username ? decodeURIComponent(username) : null,
    password: password ? decodeURIComponent(password) : null,
  }
}

function mailAddress(text: string): string {
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(text)) throw new Error(`must be an e-mail address, not "${text}".`)
  return text
}

function redisUrl(text: string): string {
  const { pathname } = new URL(url(text, ['redis:', 'rediss:']))
  if (!/^\/?\d*$/.test(pathname)) throw new Error('must end with the host or the number of a database.')
  return text
}

function secret(text: string): string {
  if (text.length < 32)
    throw new Error('must have at least 32 characters, for instance from "openssl rand -base64 32".')
  return text
}

const RATE = 'requests and seconds like 100/10, at most 10000000 requests in 3600 seconds'

function rateWindow(text: string): RateWindow {
  const [, limit, seconds] = /^(\d{1,8})\/(\d{1,4})$/.exec(text)?.map(Number) ?? []
  if (!limit || !seconds || limit > 10_000_000 || seconds > 3_600)
    throw new Error(`must be ${RATE}, not "${text}".`)
  return { limit, windowMs: seconds * 1_000 }
}

/** `{"pro": {"rateLimit": "300/10"}, …}` */
function planRateLimits(path: string): Record<string, RateWindow> {
  const file = jsonFile(path)
  if (typeof file !== 'object' || file === null || Array.isArray(file))
    throw new Error(`the file ${path} must hold an object of plans.`)
  const limits = Object.entries(file).map(([plan, settings]: [string, unknown]) => {
    if (!planNames.some((name) => name === plan))
      throw new Error(`there is no plan "${plan}"; the plans are ${planNames.join(', ')}.`)
    const { rateLimit, ...others } = recordOf(settings)
    if (Object.keys(others).length > 0)
      throw new Error(
        `"${Object.keys(others)[0]}" of the plan "${plan}" is not known; only rateLimit is supported.`,
      )
    if (typeof rateLimit !== 'string') throw new Error(`rateLimit of the plan "${plan}" must be ${RATE}.`)
    return [plan, rateWindow(rateLimit)] as const
  })
  return Object.fromEntries(limits)
}

const list = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

function addressRange(text: string): string {
  if (!ipaddr.isValid(text) && !ipaddr.isValidCIDR(text)) {
    throw new Error(`must be a comma list of addresses or ranges like 10.0.0.0/8, and "${text}" is neither.`)
  }
  return text
}

function headerName(text: string): string {
  if (!/^[\w-]{1,64}$/.test(text)) throw new Error(`must be the name of a header, not "${text}".`)
  return text.toLowerCase()
}

function oneOf<Value extends string>(text: string, values: Value[]): Value {
  const value = values.find((each) => each === text)
  if (!value) throw new Error(`must be one of ${values.join(', ')}, not "${text}".`)
  return value
}

function program(path: string): string {
  try {
    accessSync(path, constants.X_OK)
    if (statSync(path).isFile()) return resolve(path)
  } catch {}
  throw new Error(`${path} is not an executable program.`)
}

function jsonFile(path: string): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw new Error(`the file ${path} cannot be read.`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`the file ${path} is not valid JSON: ${messageOf(error)}.`)
  }
}
