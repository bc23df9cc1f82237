import { CHARSETS } from '../../server/knowledge/documents/text/charsets.ts'
import { isBusy } from '../agents/status.ts'
import { call, type Source } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Select } from '../ui/field.tsx'
import { tell } from '../ui/toast.tsx'

const PATH = '/agents/{agentId}/sources/{sourceId}'
type Charset = (typeof CHARSETS)[number]
const OPTIONS: (readonly [Charset | '', string])[] = [
  ['', 'Recognise it'],
  ...CHARSETS.map((name) => [name, name] as const),
]

/** Shows the character encoding in which a text file was read, and lets another one be chosen. */
export function CharsetOf({
  agentId,
  source,
  charset,
}: {
  agentId: string
  source: Source
  charset: string
}) {
  const can = useCan()
  const save = useMutation({
    mutationFn: (chosen: Charset | null) =>
      call('PUT', PATH, { params: { agentId, sourceId: source.id }, body: { charset: chosen } }),
    onSuccess: () => {
      tell('done', 'It is read again. Until then the live version answers.')
      return fetchAgain(PATH)
    },
  })
  if (!can('sources:write')) return charset
  return (
    <Select
      label="Character encoding"
      hideLabel
      value={CHARSETS.find((name) => name === charset) ?? ''}
      disabled={save.isPending || isBusy(source)}
      onChoose={(chosen) => save.mutate(chosen || null)}
      options={OPTIONS}
    />
  )
}
