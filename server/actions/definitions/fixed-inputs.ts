import type { ActionType } from '../../platform/db/tables/actions.ts'

type Schema = Record<string, unknown>

const text = (maxLength: number, description: string, more: Schema = {}): Schema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
  ...more,
})

const fixed: Partial<Record<ActionType, Schema>> = {
  'collect-leads': {
    type: 'object',
    properties: {
      name: text(200, 'Name of the person'),
      email: text(254, 'E-mail address; needed unless there is a phone number', { format: 'email' }),
      phone: text(50, 'Phone number with country code, as +49 30 1234567; needed unless there is an e-mail'),
    },
    additionalProperties: false,
  },
  escalate: {
    type: 'object',
    properties: {
      subject: text(500, 'What it is about, in a few words'),
      summary: text(10_000, 'What the person wants and what was tried so far'),
      email: text(254, 'E-mail address of the person, if known', { format: 'email' }),
    },
    required: ['subject', 'summary'],
    additionalProperties: false,
  },
  'web-search': {
    type: 'object',
    properties: { query: text(400, 'What to search for') },
    required: ['query'],
    additionalProperties: false,
  },
}

/** Returns the inputs that the service defines for actions of this type; null where each action has its own. */
export const fixedInputs = (type: ActionType): Schema | null => fixed[type] ?? null

/** The inputs of an action that takes none. */
export const NO_INPUTS: Schema = { type: 'object', properties: {} }
