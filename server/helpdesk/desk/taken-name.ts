import { ApiError } from '../../http/errors.ts'

const UNIQUE = '23505'

/** RESOURCE_DUPLICATE where the database refuses a name that the agent has already, in any case of letters. */
export async function refuseTakenName<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const { code, constraint } = error as { code?: string; constraint?: string }
    if (code !== UNIQUE || !constraint?.endsWith('_name')) throw error
    throw new ApiError('RESOURCE_DUPLICATE', { cause: error })
  }
}
