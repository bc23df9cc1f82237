import Type from 'typebox'
import { Exact, IsoTime, OneOf, Subset } from '../../../platform/http/contract.ts'
import { MAX_NAME_LENGTH, NO_TOPIC, topicKey } from './topic-key.ts'

const Name = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  // A comma would end the name in a search filter.
  pattern: '^[^\\s,]([^,]*[^\\s,])?$',
  refusal: 'Must not begin or end with a space, and must not hold a comma.',
  rule: (name: string) =>
    topicKey(name) === NO_TOPIC ? 'Means "no topic" in the search. Choose another name.' : null,
})
const Description = Type.String({ maxLength: 500, description: 'The model reads it together with the name' })

export const Topic = Exact({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  aliases: Type.Array(Type.String(), { description: 'Names of topics that were merged into it' }),
  origin: OneOf(['manual', 'model', 'heuristic'], { description: 'How the topic was added' }),
  createdAt: IsoTime,
  updatedAt: IsoTime,
})

export const NewTopic = Exact({ name: Name, description: Type.Optional(Description) })
export const TopicChange = Subset(Exact({ name: Name, description: Description }))

export const TopicSettings = Exact({
  frozen: Type.Boolean({ description: 'Whether topics are only added by hand' }),
})
