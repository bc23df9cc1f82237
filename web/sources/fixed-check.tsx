import { Check } from '../ui/field.tsx'

/** Whether an answer is given word for word. */
export const FixedCheck = ({ defaultChecked = false }: { defaultChecked?: boolean }) => (
  <Check
    label="Give exactly this answer"
    name="fixed"
    defaultChecked={defaultChecked}
    hint="To a customer who asks one of these questions, whatever the case and punctuation, and without calling a model. Other wordings are answered by the model, which also reads it."
  />
)
