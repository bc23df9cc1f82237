import { IconButton } from './icon-button.tsx'
import type { Feedback } from './types.ts'
import { word } from './words.ts'

type Props = { feedback: Feedback; rate: (feedback: Feedback) => void }

/** The buttons that rate an answer. Pressing the same button again removes the rating. */
export function FeedbackButtons({ feedback, rate }: Props) {
  const press = (pressed: Feedback) => () => rate(feedback === pressed ? null : pressed)
  return (
    <>
      <IconButton
        class="small"
        icon="up"
        label={word('good')}
        aria-pressed={feedback === 'positive'}
        onClick={press('positive')}
      />
      <IconButton
        class="small"
        icon="downThumb"
        label={word('bad')}
        aria-pressed={feedback === 'negative'}
        onClick={press('negative')}
      />
    </>
  )
}
