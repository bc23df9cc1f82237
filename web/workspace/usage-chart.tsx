import { useState } from 'react'
import { usageCsv } from '../../server/accounts/plans/usage-csv.ts'
import type { OutputOf } from '../app/api.ts'
import { saveFile } from '../app/save-file.ts'
import { BarChart } from '../ui/bar-chart.tsx'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { formatDollars, formatNumber } from '../ui/format.ts'
import classes from './usage-chart.module.css'

type Usage = OutputOf<'GET', '/usage'>
type ModelUse = Usage['models'][number]

const MEASURES = {
  money: { label: 'Money', of: ({ dollars }: ModelUse) => dollars ?? 0, format: formatDollars },
  tokens: {
    label: 'Tokens',
    of: ({ inputTokens, outputTokens }: ModelUse) => inputTokens + outputTokens,
    format: formatNumber,
  },
  calls: { label: 'Calls', of: ({ calls }: ModelUse) => calls, format: formatNumber },
} as const

type Measure = keyof typeof MEASURES

const DAY_MS = 86_400_000
const DAYS = 30

/** Shows what language models were used for by day, with axes, and offers all usage as a CSV file. */
export function UsageChart({ usage }: { usage: Usage }) {
  const [measure, setMeasure] = useState<Measure>('money')
  const { label, of, format } = MEASURES[measure]
  const byDay = new Map<string, number>()
  for (const row of usage.models) byDay.set(row.day, (byDay.get(row.day) ?? 0) + of(row))
  const last = Date.now()
  const days = Array.from({ length: DAYS }, (_, at) => {
    const day = new Date(last - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10)
    return { day, value: byDay.get(day) ?? 0 }
  })
  return (
    <figure className={classes.chart}>
      <figcaption className={classes.head}>
        <Select
          label="What the chart shows"
          hideLabel
          value={measure}
          options={Object.entries(MEASURES).map(([name, one]) => [name as Measure, one.label])}
          onChoose={setMeasure}
        />
        <Button
          small
          kind="quiet"
          onClick={() => saveFile('usage.csv', ['\uFEFF', usageCsv(usage)], 'text/csv')}
        >
          CSV
        </Button>
      </figcaption>
      <BarChart label={label} days={days} format={format} />
    </figure>
  )
}
