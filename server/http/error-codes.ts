/** Every error code of version 2 with its HTTP status and its default sentence (contract, section 2). */
export const errorCodes = {
  VALIDATION_INVALID_BODY: [400, 'The request is not valid. See details for each field.'],
  VALIDATION_INVALID_JSON: [400, 'The body is not valid JSON.'],
  VALIDATION_INVALID_CURSOR: [
    400,
    'The cursor is damaged or belongs to another list, sort or filter. Start again without a cursor.',
  ],
  VALIDATION_INVALID_DATE_RANGE: [400, 'startDate is after endDate.'],
  VALIDATION_UNSUPPORTED_MEDIA_TYPE: [415, 'The Content-Type is not supported here.'],
  VALIDATION_BODY_TOO_LARGE: [413, 'The body is larger than this endpoint accepts.'],
  AUTH_MISSING_API_KEY: [401, 'No API key. Send the header "Authorization: Bearer <API_KEY>".'],
  AUTH_INVALID_API_KEY: [401, 'The API key is not valid.'],
  AUTH_EXPIRED_API_KEY: [401, 'The API key has expired. Create a new one.'],
  AUTH_INSUFFICIENT_PERMISSIONS: [403, 'The API key lacks the scope for this request.'],
  SUBSCRIPTION_API_RESTRICTED_PLAN: [403, 'The plan of this account does not include API access.'],
  AGENT_LIMIT_REACHED: [403, 'The account has as many agents as its plan allows.'],
  PLAN_FEATURE_NOT_AVAILABLE: [403, 'The plan of this account does not include this feature.'],
  CHAT_CREDITS_EXHAUSTED: [402, 'The credits of this account are used up for this month.'],
  CHAT_AGENT_CREDITS_EXHAUSTED: [402, 'The credit limit of this agent is used up for this month.'],
  CHAT_MODEL_NOT_ALLOWED: [403, "The agent's model is not in the plan of this account."],
  CHAT_CONVERSATION_NOT_ONGOING: [409, 'The conversation is not ongoing. Start a new one.'],
  CHAT_CONVERSATION_BUSY: [409, 'A reply is being generated in this conversation. Wait for it or stop it.'],
  CHAT_NOTHING_TO_CONTINUE: [409, 'There is no message, and nothing waits to be continued.'],
  CHAT_RETRY_MESSAGE_NOT_FOUND: [404, 'The message to retry is not in this conversation.'],
  CHAT_RETRY_NO_USER_MESSAGE: [409, 'There is no user message before it that could be answered again.'],
  CHAT_PROVIDER_ERROR: [502, 'The model provider could not answer. Try again.'],
  AGENT_NOT_FOUND: [404, 'The agent does not exist.'],
  AGENT_NOT_TRAINED: [409, 'The agent has no live source yet.'],
  SOURCE_NOT_FOUND: [404, 'The source does not exist.'],
  SOURCE_DUPLICATE: [409, 'The agent already has a source with this URL and link type.'],
  SOURCE_SIZE_LIMIT_EXCEEDED: [422, "The sources would exceed the plan's training size."],
  SOURCE_UNSUPPORTED_TYPE: [422, 'The file is of a type that cannot be used as a source.'],
  PAGES_NOT_CONNECTED: [409, 'No workspace of pages is connected. Connect one first.'],
  PAGES_CONNECTION_FAILED: [502, 'The connected workspace could not answer. Try again.'],
  RESOURCE_NOT_FOUND: [404, 'The requested item does not exist.'],
  RESOURCE_DUPLICATE: [409, 'Something with this name already exists.'],
  RESOURCE_MESSAGE_NOT_FOUND: [404, 'The message is not in this conversation.'],
  RESOURCE_MESSAGE_NOT_ASSISTANT: [422, 'Only messages of the assistant can be rated.'],
  RESOURCE_TOOL_CALL_NOT_FOUND: [
    404,
    'No action waits for a result under this toolCallId: it is unknown, resolved, ignored or expired.',
  ],
  CONVERSATION_NOT_TAKEN_OVER: [409, 'The conversation is not taken over by a person.'],
  TEAM_MEMBER_NOT_FOUND: [422, 'No team member matches.'],
  TICKET_NOT_FOUND: [404, 'The ticket does not exist.'],
  IDEMPOTENCY_KEY_REUSED: [409, 'This Idempotency-Key was used for another request.'],
  ROUTE_NOT_FOUND: [404, 'There is no such path.'],
  METHOD_NOT_ALLOWED: [405, 'This path does not take this method.'],
  RATE_LIMIT_TOO_MANY_REQUESTS: [429, 'Too many requests. Wait as long as Retry-After says.'],
  INTERNAL_SERVER_ERROR: [500, 'Something went wrong on our side. Report the x-request-id of this answer.'],
  SERVICE_UNDER_MAINTENANCE: [503, 'The service is under maintenance. Try again shortly.'],
  SERVICE_OVERLOADED: [503, 'The service is at its limit. Try again shortly.'],
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof errorCodes

/** Codes that any endpoint with a key may answer; a contract declares only its own. */
export const commonErrors = [
  'AUTH_MISSING_API_KEY',
  'AUTH_INVALID_API_KEY',
  'AUTH_EXPIRED_API_KEY',
  'AUTH_INSUFFICIENT_PERMISSIONS',
  'SUBSCRIPTION_API_RESTRICTED_PLAN',
  'RATE_LIMIT_TOO_MANY_REQUESTS',
  'VALIDATION_INVALID_BODY',
  'INTERNAL_SERVER_ERROR',
  'SERVICE_UNDER_MAINTENANCE',
  'SERVICE_OVERLOADED',
] as const satisfies ErrorCode[]

/** Codes that any endpoint but a GET may answer besides. */
export const bodyErrors = [
  'VALIDATION_INVALID_JSON',
  'VALIDATION_UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_BODY_TOO_LARGE',
] as const satisfies ErrorCode[]

/** Codes that any POST may answer besides. */
export const postErrors = ['IDEMPOTENCY_KEY_REUSED'] as const satisfies ErrorCode[]
