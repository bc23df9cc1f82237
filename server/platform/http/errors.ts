/** What the author of a refused change has not seen: the current object, and who changed it when. */
export type Changed = { current: unknown; changedBy?: string; changedAt?: string }

type Options = {
  /** Replaces the default sentence. */
  message?: string
  details?: Record<string, string>
  /** What a VERSION_MISMATCH says in its details. */
  changed?: Changed
  /** Additional response headers. */
  headers?: Record<string, string>
  cause?: unknown
}

/** The error type of the service: it may be thrown anywhere and is rendered in one place. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode
  readonly status: number
  readonly details: Record<string, string> | undefined
  readonly changed: Changed | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, options: Options = {}) {
    super(options.message ?? errorCodes[code][1], { cause: options.cause })
    this.code = code
    this.status = errorCodes[code][0]
    this.details = options.details
    this.changed = options.changed
    this.headers = options.headers ?? {}
  }

  get body(): { error: { code: ErrorCode; message: string; details?: Record<string, string> | Changed } } {
    const { code, message } = this
    const details = this.changed ?? this.details
    return { error: details ? { code, message, details } : { code, message } }
  }
}

/** Returns VALIDATION_INVALID_BODY for one field, for a rule that a schema cannot express. */
export function invalidField(path: string, sentence: string): ApiError {
  return new ApiError('VALIDATION_INVALID_BODY', { details: { [path]: sentence } })
}

/** Every error code of version 2 with its HTTP status and its default sentence. */
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
  AUTH_SESSION_ENDED: [401, 'The session has ended. Sign in again.'],
  AUTH_CROSS_SITE_REQUEST: [
    403,
    'Requests with a session must come from the workspace, with the header "x-parley-session: 1".',
  ],
  AUTH_SIGN_IN_FAILED: [401, 'The e-mail address, the password or the code is wrong.'],
  AUTH_LINK_INVALID: [404, 'The link has been used, has expired or never existed. Ask for a new one.'],
  SUBSCRIPTION_API_RESTRICTED_PLAN: [403, 'The plan of this account does not include API access.'],
  AGENT_LIMIT_REACHED: [403, 'The account has as many agents as its plan allows.'],
  PLAN_FEATURE_NOT_AVAILABLE: [403, 'The plan of this account does not include this feature.'],
  CHAT_CREDITS_EXHAUSTED: [402, 'The credits of this account are used up for this month.'],
  CHAT_AGENT_CREDITS_EXHAUSTED: [402, 'The credit limit of this agent is used up for this month.'],
  CHAT_MODEL_NOT_ALLOWED: [403, "The agent's model is not in the plan of this account."],
  CHAT_CONVERSATION_NOT_ONGOING: [409, 'The conversation is not ongoing. Start a new one.'],
  CHAT_CONVERSATION_BUSY: [409, 'A reply is being generated in this conversation. Wait for it or stop it.'],
  CHAT_NOTHING_TO_CONTINUE: [409, 'The request has no message, and there is nothing to continue.'],
  CHAT_RETRY_MESSAGE_NOT_FOUND: [404, 'The message to retry is not in this conversation.'],
  CHAT_RETRY_NO_USER_MESSAGE: [409, 'There is no user message before it that could be answered again.'],
  CHAT_PROVIDER_ERROR: [502, 'The model provider could not answer. Try again.'],
  AGENT_NOT_FOUND: [404, 'The agent does not exist.'],
  AGENT_NOT_TRAINED: [409, 'The agent has no live source yet.'],
  SOURCE_NOT_FOUND: [404, 'The source does not exist.'],
  SOURCE_DUPLICATE: [409, 'The agent already has a source with this URL and link type.'],
  SOURCE_PENDING_DELETION: [409, 'The source is being deleted and cannot be changed any more.'],
  SOURCE_ALREADY_PENDING_DELETION: [409, 'The source is already being deleted.'],
  SOURCE_SIZE_LIMIT_EXCEEDED: [422, "The sources would exceed the plan's training size."],
  ATTACHMENT_LIMIT_EXCEEDED: [422, 'The files would exceed the storage limit of the account.'],
  SOURCE_UNSUPPORTED_TYPE: [422, 'The file is of a type that cannot be used as a source.'],
  PAGES_NOT_CONNECTED: [409, 'No Notion workspace is connected. Connect one first.'],
  PAGES_CONNECTION_FAILED: [502, 'The connected workspace did not respond. Try again.'],
  LAST_OWNER: [409, 'The account would have no owner. Make somebody else an owner first.'],
  MEMBER_LIMIT_REACHED: [403, 'The account has as many members as its plan allows.'],
  RESOURCE_NOT_FOUND: [404, 'The requested item does not exist.'],
  RESOURCE_DUPLICATE: [409, 'Something with this name already exists.'],
  CONTACT_IDENTITY_ALONE: [409, 'The contact has no other identity from which this one could be separated.'],
  RESOURCE_MESSAGE_NOT_FOUND: [404, 'The message is not in this conversation.'],
  RESOURCE_MESSAGE_NOT_ASSISTANT: [422, 'Only messages of the assistant can be rated.'],
  RESOURCE_TOOL_CALL_NOT_FOUND: [
    404,
    'No action waits for a result under this toolCallId: it is unknown, resolved, ignored or expired.',
  ],
  CONVERSATION_NOT_TAKEN_OVER: [409, 'The conversation is not taken over by a person.'],
  TEAM_MEMBER_NOT_FOUND: [422, 'No team member matches.'],
  TICKET_NOT_FOUND: [404, 'The ticket does not exist.'],
  TICKET_INVALID_STATUS: [422, 'The agent has no such ticket status.'],
  TICKET_TEAM_NOT_FOUND: [422, 'The agent has no such team.'],
  TICKET_TEAM_MEMBER_NOT_FOUND: [422, 'No team member matches the assignee.'],
  MESSAGE_CONTENT_NOT_RENDERABLE: [422, 'The content would be rendered empty. Write text or Markdown.'],
  MESSAGING_NOT_CONNECTED: [
    403,
    'Messaging is not connected for this agent. Connect a business account first.',
  ],
  PHONE_NUMBER_REQUIRED: [400, 'The agent has several numbers: say in `from` which one sends.'],
  TEMPLATE_LANGUAGE_REQUIRED: [400, 'The template exists in several languages: say which one.'],
  PHONE_NUMBER_NOT_FOUND: [404, 'The number in `from` is not connected.'],
  TEMPLATE_NOT_FOUND: [404, 'The business account of this number has no such template.'],
  TEMPLATE_NOT_APPROVED: [409, 'The template is not approved.'],
  SEND_BLOCKED: [409, 'Messages to this recipient are blocked.'],
  MISSING_TEMPLATE_VARIABLES: [422, 'The template needs more variables. See details.missing.'],
  INVALID_TEMPLATE_VARIABLES: [422, 'The variables are not valid for the template. See details.invalid.'],
  TEMPLATE_BUTTONS_UNSUPPORTED: [422, 'Templates whose buttons need variables cannot be sent.'],
  TEMPLATE_PARAMS_REJECTED: [422, 'The channel rejected the variables of the template.'],
  RECIPIENT_INVALID: [422, '`to` is not a phone number in international format.'],
  RECIPIENT_NOT_REACHABLE: [422, 'The channel cannot reach this recipient.'],
  MESSAGING_SEND_FAILED: [502, 'The channel could not accept the message. Try again.'],
  WEBHOOK_SIGNATURE_INVALID: [401, 'The request is not signed with the secret of a connected account.'],
  VISITOR_IDENTITY_INVALID: [401, 'The visitor is not signed in.'],
  VISITOR_NOT_SERVED: [403, 'The chat is not available where you are.'],
  VERSION_MISMATCH: [
    412,
    'The object has changed since the version in If-Match. See details.current, and send the change again with its ETag.',
  ],
  IDEMPOTENCY_KEY_REUSED: [409, 'This Idempotency-Key was used for another request.'],
  REQUEST_MALFORMED: [400, 'The request is not valid HTTP. Check its request line and its headers.'],
  REQUEST_TIMEOUT: [408, 'The request did not arrive in time. Send it again.'],
  REQUEST_HEADERS_TOO_LARGE: [431, 'The headers may have at most 16 KB in total.'],
  EXPECTATION_FAILED: [417, 'Only `Expect: 100-continue` is supported.'],
  ROUTE_NOT_FOUND: [404, 'There is no such path.'],
  METHOD_NOT_ALLOWED: [405, 'This path does not support this method.'],
  RATE_LIMIT_TOO_MANY_REQUESTS: [429, 'Too many requests. Wait as long as Retry-After says.'],
  INTERNAL_SERVER_ERROR: [500, 'Something went wrong on our side. Report the x-request-id of this response.'],
  SERVICE_UNDER_MAINTENANCE: [503, 'The service is under maintenance. Try again shortly.'],
  SERVICE_OVERLOADED: [503, 'The service is at its limit. Try again shortly.'],
  STORAGE_FULL: [
    503,
    'The disk of the service is nearly full, so nothing is stored until there is room. Reads work.',
  ],
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof errorCodes

/** Codes of requests that are refused before they reach a route; any path may return them. */
export const earlyErrors = [
  'REQUEST_MALFORMED',
  'REQUEST_TIMEOUT',
  'REQUEST_HEADERS_TOO_LARGE',
  'EXPECTATION_FAILED',
] as const satisfies ErrorCode[]

/** Codes that any endpoint that needs a key may return; a contract declares only those of its own. */
export const commonErrors = [
  'AUTH_MISSING_API_KEY',
  'AUTH_INVALID_API_KEY',
  'AUTH_EXPIRED_API_KEY',
  'AUTH_INSUFFICIENT_PERMISSIONS',
  'AUTH_SESSION_ENDED',
  'AUTH_CROSS_SITE_REQUEST',
  'SUBSCRIPTION_API_RESTRICTED_PLAN',
  'RATE_LIMIT_TOO_MANY_REQUESTS',
  'VALIDATION_INVALID_BODY',
  'INTERNAL_SERVER_ERROR',
  'SERVICE_UNDER_MAINTENANCE',
  'SERVICE_OVERLOADED',
] as const satisfies ErrorCode[]

/** Further codes that any endpoint except a GET may return. */
export const bodyErrors = [
  'VALIDATION_INVALID_JSON',
  'VALIDATION_UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_BODY_TOO_LARGE',
  'STORAGE_FULL',
] as const satisfies ErrorCode[]

/** Further codes that any POST may return. */
export const postErrors = ['IDEMPOTENCY_KEY_REUSED'] as const satisfies ErrorCode[]
