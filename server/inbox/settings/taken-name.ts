import { ApiError } from '../../platform/http/errors.ts'
import { recordOf } from '../../platform/unknown-values.ts'

const UNIQUE = '23505'

/** Throws RESOURCE_DUPLICATE when the database rejects a name that the agent already has, ignoring case. */
export async function refuseTakenName<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const { code, constraint } = recordOf(error)
    if (code !== UNIQUE || !String(constraint).endsWith('_name')) throw error
    throw new ApiError('RESOURCE_DUPLICATE', { cause: error })
  }
}
