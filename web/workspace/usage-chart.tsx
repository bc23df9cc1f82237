import { useState } from 'react'
import { saveFile } from '../app/save-file.ts'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { formatDay, formatDollars, formatNumber } from '../ui/format.ts'
import classes from './usage-chart.module.css'

type ModelUse = {
  day: string
  agentId: string
  agentName: string | null
  model: string
  calls: number
  inputTokens: number
  cachedTokens: number
  outputTokens: number
  reasoningTokens: number
  dollars: number | null
  unpricedCalls: number
}

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

const HEIGHT = 120
const DAY_MS = 86_400_000
const DAYS = 30

/** Shows what language models were used for by day, with axes, and offers the rows as a CSV file. */
export function UsageChart({ rows }: { rows: readonly ModelUse[] }) {
  const [measure, setMeasure] = useState<Measure>('money')
  const { label, of, format } = MEASURES[measure]
  const byDay = new Map<string, number>()
  for (const row of rows) byDay.set(row.day, (byDay.get(row.day) ?? 0) + of(row))
  const last = Date.now()
  const days = Array.from({ length: DAYS }, (_, at) => {
    const day = new Date(last - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10)
    return { day, value: byDay.get(day) ?? 0 }
  })
  const top = roundedUp(Math.max(...days.map(({ value }) => value)))
  const sum = days.reduce((total, { value }) => total + value, 0)
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
        <Button small kind="quiet" onClick={() => saveFile('models-by-day.csv', csvOf(rows), 'text/csv')}>
          CSV
        </Button>
      </figcaption>
      <div className={classes.plot}>
        <div className={classes.values} aria-hidden>
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{format(value)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${DAYS * 10} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${label} by day: ${format(sum)} in ${DAYS} days`}
          className={classes.bars}
        >
          {[0, HEIGHT / 2, HEIGHT].map((y) => (
            <line key={y} x1={0} x2={DAYS * 10} y1={y} y2={y} className={classes.line} />
          ))}
          {days.map(({ day, value }, at) => (
            <rect
              key={day}
              x={at * 10 + 1}
              y={HEIGHT - (value / top) * HEIGHT}
              width={8}
              height={(value / top) * HEIGHT}
              className={classes.bar}
            >
              <title>{`${formatDay(day)}: ${format(value)}`}</title>
            </rect>
          ))}
        </svg>
        <div className={classes.days} aria-hidden>
          {[0, Math.floor(DAYS / 2), DAYS - 1].map((at) => (
            <span key={at}>{formatDay(days[at]?.day ?? '')}</span>
          ))}
        </div>
      </div>
    </figure>
  )
}

/** Returns the next of 1, 2, 5, 10, 20 … (or .5, .2 …), so that the axis has plain numbers. */
function roundedUp(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5].find((step) => step * power >= value) ?? 10)
}

const COLUMNS = [
  'day',
  'agentId',
  'agentName',
  'model',
  'calls',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'reasoningTokens',
  'dollars',
  'unpricedCalls',
] as const satisfies readonly (keyof ModelUse)[]

const csvOf = (rows: readonly ModelUse[]): string[] =>
  [[...COLUMNS], ...rows.map((row) => COLUMNS.map((name) => row[name] ?? ''))].map(
    (cells, at) => `${at === 0 ? '\uFEFF' : ''}${cells.map(quoted).join(',')}\n`,
  )

/** A leading sign could make a spreadsheet take a name for a formula. */
const quoted = (cell: string | number): string =>
  typeof cell === 'number' ? String(cell) : `"${cell.replace(/^(?=[=+@\t\r-])/, "'").replaceAll('"', '""')}"`
