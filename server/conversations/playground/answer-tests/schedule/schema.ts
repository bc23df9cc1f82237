import Type from 'typebox'
import { Exact, IsoTime, Nullable, OneOf } from '../../../../platform/http/contract.ts'
import { NewAnswerRun } from '../schema.ts'

const { note: _, instructions: _instructions, ...settings } = NewAnswerRun.properties

export const NewAnswerSchedule = Exact({
  every: OneOf(['day', 'week'], { description: 'week: on Mondays' }),
  hour: Type.Integer({ minimum: 0, maximum: 23, description: 'Of the day, in UTC' }),
  alertBelow: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      default: 1,
      description:
        'People are told of a run in which a smaller share of the tests has passed; null for never. They are always told of one that is worse than the one before by more than chance, and of one that stopped.',
    }),
  ),
  ...settings,
})

export const AnswerSchedule = Exact({
  ...NewAnswerSchedule.properties,
  nextAt: IsoTime,
  lastRunId: Nullable(Type.String({ description: 'The run that it has started last' })),
  alert: Nullable(Type.String({ description: 'What people were told of the last run; null: nothing' })),
})
