import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { formatDay } from '../ui/format.ts'
import { Table } from '../ui/page.tsx'
import classes from './insights.module.css'

type Day = { date: string; conversations: number; escalated: number; unanswered: number; credits: number }

const HEIGHT = 120

/** Shows conversations by day as a bar chart or a table, and offers the numbers as a CSV file. */
export function DayChart({ days }: { days: Day[] }) {
  const [asTable, setAsTable] = useState(false)
  const most = Math.max(1, ...days.map(({ conversations }) => conversations))
  const sum = days.reduce((total, { conversations }) => total + conversations, 0)
  const last = days.at(-1)
  const csv = [
    'day,conversations,handed over,unanswered,credits',
    ...days.map((day) => [day.date, day.conversations, day.escalated, day.unanswered, day.credits].join(',')),
  ].join('\n')
  const save = (): void => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([`\uFEFF${csv}`], { type: 'text/csv' }))
    link.download = 'conversations-by-day.csv'
    link.click()
    URL.revokeObjectURL(link.href)
  }
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
        <svg
          viewBox={`0 0 ${days.length * 10} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${sum} conversations, at most ${most} a day`}
          className={classes.bars}
        >
          {days.map(({ date, conversations }, at) => {
            const height = Math.max(conversations > 0 ? 2 : 1, (conversations / most) * (HEIGHT - 4))
            return (
              <rect
                key={date}
                x={at * 10 + 1}
                y={HEIGHT - height}
                width={8}
                height={height}
                className={conversations > 0 ? classes.bar : classes.zero}
              >
                <title>{`${formatDay(date)}: ${conversations}`}</title>
              </rect>
            )
          })}
        </svg>
      )}
      <div className={classes.axis}>
        <span>{days[0] && formatDay(days[0].date)}</span>
        <span className={classes.axisButtons}>
          <Button small kind="quiet" onClick={() => setAsTable(!asTable)}>
            {asTable ? 'Chart' : 'Table'}
          </Button>
          <Button small kind="quiet" onClick={save}>
            CSV
          </Button>
        </span>
        <span>{last && formatDay(last.date)}</span>
      </div>
    </div>
  )
}
