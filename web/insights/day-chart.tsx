import { useState } from 'react'
import { csvRow } from '../../server/platform/text/rows/csv-row.ts'
import { saveFile } from '../app/save-file.ts'
import { BarChart } from '../ui/bar-chart.tsx'
import { Button } from '../ui/button.tsx'
import { formatDay, formatNumber } from '../ui/format.ts'
import { Table } from '../ui/page.tsx'
import classes from './insights.module.css'

type Day = { date: string; conversations: number; escalated: number; unanswered: number; credits: number }

/** Shows conversations by day as a bar chart or a table, and offers the numbers as a CSV file. */
export function DayChart({ days }: { days: Day[] }) {
  const [asTable, setAsTable] = useState(false)
  const csv = () =>
    [
      ['day', 'conversations', 'handed over', 'unanswered', 'credits'],
      ...days.map((day) => [day.date, day.conversations, day.escalated, day.unanswered, day.credits]),
    ].map(csvRow)
  return (
    <div className={classes.chart}>
      {asTable ? (
        <Table
          label="Conversations by day"
          head={['Day', 'Conversations', 'Handed over', 'Unanswered', 'Credits']}
        >
          {days.toReversed().map((day) => (
            <tr key={day.date}>
              <td>{formatDay(day.date)}</td>
              <td>{day.conversations}</td>
              <td>{day.escalated}</td>
              <td>{day.unanswered}</td>
              <td>{day.credits}</td>
            </tr>
          ))}
        </Table>
      ) : (
        <BarChart
          label="Conversations"
          days={days.map(({ date, conversations }) => ({ day: date, value: conversations }))}
          format={formatNumber}
        />
      )}
      <div className={classes.chartButtons}>
        <Button small kind="quiet" onClick={() => setAsTable(!asTable)}>
          {asTable ? 'Chart' : 'Table'}
        </Button>
        <Button
          small
          kind="quiet"
          onClick={() => saveFile('conversations-by-day.csv', ['\uFEFF', ...csv()], 'text/csv')}
        >
          CSV
        </Button>
      </div>
    </div>
  )
}
