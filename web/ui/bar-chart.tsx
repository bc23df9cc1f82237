import classes from './bar-chart.module.css'
import { formatDay } from './format.ts'

type Bar = { day: string; value: number }
type BarChartProps = { label: string; days: readonly Bar[]; format: (value: number) => string }

const HEIGHT = 120

/** Shows a value by day as bars, with an axis of values and one of days. */
export function BarChart({ label, days, format }: BarChartProps) {
  const top = roundedUp(Math.max(0, ...days.map(({ value }) => value)))
  const sum = days.reduce((total, { value }) => total + value, 0)
  const marked = [...new Set([0, Math.floor(days.length / 2), days.length - 1])]
  return (
    <div className={classes.plot}>
      <ul className={classes.values} aria-label={`Values of ${label.toLowerCase()}`}>
        {[top, top / 2, 0].map((value) => (
          <li key={value}>{format(value)}</li>
        ))}
      </ul>
      <svg
        viewBox={`0 0 ${days.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label} by day: ${format(sum)} in ${days.length} days, ${mostOf(days, format)}`}
        className={classes.bars}
      >
        {[0, HEIGHT / 2, HEIGHT].map((y) => (
          <line key={y} x1={0} x2={days.length * 10} y1={y} y2={y} className={classes.line} />
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
      <ul className={classes.days} aria-label="Days">
        {marked.map((at) => (
          <li key={at}>{formatDay(days[at]?.day ?? '')}</li>
        ))}
      </ul>
    </div>
  )
}

function mostOf(days: readonly Bar[], format: (value: number) => string): string {
  const most = days.reduce<Bar>((best, one) => (one.value > best.value ? one : best), { day: '', value: 0 })
  return most.day === '' ? 'none on any day' : `at most ${format(most.value)} on ${formatDay(most.day)}`
}

/** Returns the next of 1, 2, 5, 10, 20 … (or .5, .2 …), so that the axis has plain numbers. */
function roundedUp(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 5].find((step) => step * power >= value) ?? 10)
}
