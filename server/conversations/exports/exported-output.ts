import { recordOf } from '../../platform/unknown-values.ts'

/** The result of an action as exports show it (service-api, "Exported conversation"). */
type ExportedOutput =
  | { status: 'success'; data?: unknown }
  | { status: 'error'; error?: string }
  | { status: 'pending' }
  | { status: 'ignored' }

/**
 * Reduces an output to its shape. What an application gave in a form of its own is the data of a success; an
 * error keeps nothing but its sentence.
 */
export function exportedOutput(output: unknown): ExportedOutput {
  const shaped = recordOf(output)
  const { status, data, error } = shaped
  const others = Object.keys(shaped).filter((key) => key !== 'status')
  if (status === 'error') return typeof error === 'string' ? { status, error } : { status }
  if ((status === 'pending' || status === 'ignored') && others.length === 0) return { status }
  if (status === 'success' && others.every((key) => key === 'data')) return success(data)
  return success(output)
}

const success = (data: unknown): ExportedOutput =>
  data === undefined || data === null ? { status: 'success' } : { status: 'success', data }
