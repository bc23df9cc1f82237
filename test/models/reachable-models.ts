import { KNOWN_MODELS } from '../../server/ai/catalogue/known-models.ts'

/** An entry of MODELS_FILE for a model that the environment names. */
export type Reachable = {
  id: string
  provider: 'openai' | 'openai-responses' | 'anthropic' | 'google' | 'openai-compatible'
  name: string
  baseUrl?: string
  apiKey?: string
  more?: object
}

type Wanted = { wire: string; model: Reachable | null; reason: string }

type Env = Record<string, string | undefined>

const ADDRESSES = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
}

/** Returns the model of a provider that the documentation names first and that is not withdrawn. */
export function defaultModel(provider: keyof typeof ADDRESSES): string {
  const known = KNOWN_MODELS.find((model) => model.provider === provider && model.withdrawn === null)
  if (!known) throw new Error(`No model of ${provider} is known.`)
  return known.id
}

/** Returns a model for each wire, or why there is none. */
export async function reachableModels(env: Env): Promise<Wanted[]> {
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, MODELS_URL } = env
  const hosted = async (
    provider: Exclude<Reachable['provider'], 'openai-compatible'>,
    key: string | undefined,
    variable: string,
    named: string | undefined,
  ): Promise<Wanted> => {
    const company = provider === 'openai-responses' ? 'openai' : provider
    if (!key) return { wire: provider, model: null, reason: `${variable} is not set.` }
    const problem = await whyUnreachable(ADDRESSES[company])
    if (problem !== null) return { wire: provider, model: null, reason: problem }
    const name = named ?? defaultModel(company)
    return { wire: provider, model: { id: provider, provider, name, apiKey: key }, reason: '' }
  }
  const ollama = `${env.OLLAMA_HOST ? withScheme(env.OLLAMA_HOST) : 'http://127.0.0.1:11434'}/v1`
  return Promise.all([
    hosted('openai-responses', OPENAI_API_KEY, 'OPENAI_API_KEY', env.OPENAI_MODEL),
    hosted('openai', OPENAI_API_KEY, 'OPENAI_API_KEY', env.OPENAI_MODEL),
    hosted('anthropic', ANTHROPIC_API_KEY, 'ANTHROPIC_API_KEY', env.ANTHROPIC_MODEL),
    hosted('google', GOOGLE_GENERATIVE_AI_API_KEY, 'GOOGLE_GENERATIVE_AI_API_KEY', env.GOOGLE_MODEL),
    listed('Ollama', ollama, env.OLLAMA_MODEL),
    MODELS_URL
      ? listed('openai-compatible', MODELS_URL, env.MODELS_NAME, env.MODELS_KEY)
      : { wire: 'openai-compatible', model: null, reason: 'MODELS_URL is not set.' },
  ])
}

const withScheme = (host: string): string => (host.includes('://') ? host : `http://${host}`)

async function whyUnreachable(url: string): Promise<string | null> {
  try {
    await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(10_000) })
    return null
  } catch {
    return `${url} cannot be reached.`
  }
}

/** A server with OpenAI's API tells which models it has. */
async function listed(
  wire: string,
  baseUrl: string,
  wanted: string | undefined,
  apiKey?: string,
): Promise<Wanted> {
  try {
    const headers = apiKey ? { authorization: `Bearer ${apiKey}` } : {}
    const response = await fetch(`${baseUrl}/models`, { headers, signal: AbortSignal.timeout(10_000) })
    const { data = [] } = (await response.json()) as { data?: { id: string }[] }
    const name = wanted ?? data[0]?.id
    if (!name) return { wire, model: null, reason: `${baseUrl} has no model.` }
    return {
      wire,
      model: {
        id: wire.toLowerCase(),
        provider: 'openai-compatible',
        name,
        baseUrl,
        // Servers on the own machine read slowly.
        more: { passageTokens: 1_200, timeouts: { firstToken: 600_000, idle: 120_000, total: 900_000 } },
        ...(apiKey ? { apiKey } : {}),
      },
      reason: '',
    }
  } catch {
    return { wire, model: null, reason: `${baseUrl} cannot be reached.` }
  }
}
