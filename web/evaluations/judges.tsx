import { useQuery } from '@tanstack/react-query'
import { reading } from '../app/api.ts'
import { formatNumber, formatShare } from '../ui/format.ts'
import { Section, Table } from '../ui/page.tsx'
import classes from './evaluations.module.css'

/** Shows how often people agree with the models that have judged answers; nothing before the first judgement. */
export function Judges({ agentId }: { agentId: string }) {
  const { data } = useQuery(reading('/agents/{agentId}/answer-judges', { params: { agentId } }))
  if (!data || data.data.length === 0) return null
  return (
    <Section
      title="Judges"
      about="How often people agree with what a model has judged. Say so at the judgements of a test."
    >
      <Table
        stacked
        label="Judges"
        head={['Model', 'Judgements', 'Could not judge', 'Looked at by people', 'Agreed']}
      >
        {data.data.map((one) => (
          <tr key={one.model}>
            <td className={classes.question}>{one.model}</td>
            <td className={classes.number}>{formatNumber(one.judged)}</td>
            <td className={classes.number}>{formatNumber(one.failed)}</td>
            <td className={classes.number}>{formatNumber(one.reviewed)}</td>
            <td className={classes.number}>
              {one.share === null
                ? 'not known yet'
                : `${formatShare(one.share)} (${formatNumber(one.agreed)} of ${formatNumber(one.reviewed)})`}
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}
