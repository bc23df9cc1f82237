import Type from 'typebox'
import { Exact } from '../../platform/http/contract.ts'
import { rawEndpoint } from '../../platform/http/raw-endpoint.ts'

export const MAX_COMMENT_LENGTH = 2_000

const SurveyParams = Exact({ token: Type.String() })

export const showSurvey = rawEndpoint({
  method: 'GET',
  path: '/surveys/{token}',
  name: 'showSurvey',
  summary: 'The survey about a solved ticket',
  description: 'A page with a form for browsers; JSON if the request does not accept HTML.',
  access: 'link',
  params: SurveyParams,
  success: {
    status: 200,
    description: 'The subject of the ticket, and whether the survey has been answered',
    types: ['text/html', 'application/json'],
    schema: Exact({ subject: Type.String(), answered: Type.Boolean() }),
  },
  unknown: 'RESOURCE_NOT_FOUND',
})

export const answerSurvey = rawEndpoint({
  method: 'POST',
  path: '/surveys/{token}',
  name: 'answerSurvey',
  summary: 'Answer a survey, once',
  access: 'link',
  params: SurveyParams,
  body: {
    as: 'fields',
    types: ['application/json', 'application/x-www-form-urlencoded'],
    maxBytes: 65_536,
    schema: Type.Object({
      rating: Type.Integer({ minimum: 1, maximum: 5 }),
      comment: Type.Optional(Type.String({ maxLength: MAX_COMMENT_LENGTH })),
    }),
  },
  success: {
    status: 200,
    description: 'The answer is stored',
    types: ['text/html', 'application/json'],
    schema: Exact({ success: Type.Literal(true) }),
  },
  unknown: 'RESOURCE_NOT_FOUND',
  errors: ['VALIDATION_INVALID_BODY', 'RESOURCE_DUPLICATE'],
})
