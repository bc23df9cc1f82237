import type { Agent, Source } from '../app/api.ts'

type Tone = 'neutral' | 'success' | 'warning' | 'danger' | 'info'
type Shown = { tone: Tone; label: string }

const AGENT: Record<string, Shown> = {
  trained: { tone: 'success', label: 'Trained' },
  training: { tone: 'info', label: 'Training' },
  failed: { tone: 'danger', label: 'A source failed' },
}

export const statusOfAgent = (status: Agent['status']): Shown =>
  AGENT[status] ?? { tone: 'neutral', label: 'Not trained' }

const SOURCE: Record<Source['status'], Shown> = {
  untrained: { tone: 'info', label: 'Training' },
  updated: { tone: 'info', label: 'Live, updating' },
  trained: { tone: 'success', label: 'Live' },
  failed: { tone: 'danger', label: 'Failed' },
  toBeDeleted: { tone: 'neutral', label: 'Being removed' },
  deleted: { tone: 'neutral', label: 'Removed' },
}

export const statusOfSource = (status: Source['status']): Shown => SOURCE[status]
export const isBusy = ({ status }: Pick<Source, 'status'>): boolean =>
  status === 'untrained' || status === 'updated' || status === 'toBeDeleted'
