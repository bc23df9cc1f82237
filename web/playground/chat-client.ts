import { createParley } from '../../client/parley.ts'
import { baseUrl, headers } from '../app/api.ts'

/** The client that streams answers. Only pages with a chat load it. */
export const parley = createParley({ baseUrl, headers })
