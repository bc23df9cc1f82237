/** The plan catalogue. null means without limit, sizes are in bytes, and credits are per UTC month. */
type Plan = {
  /** Which versions of the API the account's keys may use; `1` permits only the older one. */
  apiAccess: 'none' | '1' | 'all'
  creditsPerMonth: number | null
  agents: number | null
  members: number | null
  trainingBytes: number | null
  /** The size limit for all files attached to conversations and tickets. */
  attachmentBytes: number | null
  /** The most pages of one website that a crawl or sitemap source may include. */
  pages: number | null
  /** The most sources that may be waiting for training or in training at once. */
  unfinishedSources: number
  /** The most answers that models generate at once in each process; further ones wait. */
  answersAtOnce: number
  /** The most searches that run at once in each process; further ones wait. */
  searchesAtOnce: number
  features: readonly Feature[]
  /**
   * The ids of models in the catalogue that the plan includes; null means all. `auto` and the built-in responder are
   * in every plan.
   */
  models: readonly string[] | null
}

type Feature = 'auto-retrain' | 'procedures' | 'messaging' | 'voice'

const MB = 1024 * 1024
const ALL: readonly Feature[] = ['auto-retrain', 'procedures', 'messaging', 'voice']

export const plans = {
  free: {
    apiAccess: '1',
    creditsPerMonth: 50,
    agents: 1,
    members: 1,
    trainingBytes: 1 * MB,
    attachmentBytes: 100 * MB,
    pages: 10,
    unfinishedSources: 20,
    answersAtOnce: 5,
    searchesAtOnce: 1,
    features: [],
    models: [],
  },
  hobby: {
    apiAccess: '1',
    creditsPerMonth: 1_500,
    agents: 2,
    members: 2,
    trainingBytes: 20 * MB,
    attachmentBytes: 2_000 * MB,
    pages: 200,
    unfinishedSources: 100,
    answersAtOnce: 20,
    searchesAtOnce: 1,
    features: [],
    models: null,
  },
  standard: {
    apiAccess: 'all',
    creditsPerMonth: 10_000,
    agents: 5,
    members: 5,
    trainingBytes: 40 * MB,
    attachmentBytes: 10_000 * MB,
    pages: 500,
    unfinishedSources: 250,
    answersAtOnce: 50,
    searchesAtOnce: 2,
    features: ['auto-retrain', 'messaging'],
    models: null,
  },
  pro: {
    apiAccess: 'all',
    creditsPerMonth: 40_000,
    agents: 20,
    members: 10,
    trainingBytes: 80 * MB,
    attachmentBytes: 50_000 * MB,
    pages: 2_000,
    unfinishedSources: 1_000,
    answersAtOnce: 500,
    searchesAtOnce: 3,
    features: ALL,
    models: null,
  },
  enterprise: {
    apiAccess: 'all',
    creditsPerMonth: null,
    agents: null,
    members: null,
    trainingBytes: null,
    attachmentBytes: null,
    pages: null,
    unfinishedSources: 10_000,
    answersAtOnce: 3_000,
    searchesAtOnce: 3,
    features: ALL,
    models: null,
  },
  unlimited: {
    apiAccess: 'all',
    creditsPerMonth: null,
    agents: null,
    members: null,
    trainingBytes: null,
    attachmentBytes: null,
    pages: null,
    unfinishedSources: 10_000,
    answersAtOnce: 3_000,
    searchesAtOnce: 3,
    features: ALL,
    models: null,
  },
} as const satisfies Record<string, Plan>

export type PlanName = keyof typeof plans

export const isPlanName = (name: string): name is PlanName => Object.hasOwn(plans, name)

export const planNames = Object.keys(plans) as PlanName[]

/** A self-hosted installation sells no plans, so its accounts have no limits. */
export const DEFAULT_PLAN: PlanName = 'unlimited'

/** Returns the plan with a stored name. A name that is no longer in the catalogue falls back to the smallest plan. */
export function planOf(name: string): Plan {
  return isPlanName(name) ? plans[name] : plans.free
}
