import { texts } from '../texts/texts.ts'
import type { Choice, VariantPlace } from './variants.ts'

interface ChoiceProps extends VariantPlace {
  /** The variant that is shown. */
  id: string
  /** @param first the first answer of the set */
  onChoose: (first: string, choice: Choice) => void
}

/** Which of the answers to a question is shown, and the ways to the others. */
export function VariantChoice({ first, ids, id, onChoose }: ChoiceProps) {
  const { previous_answer, next_answer, answer_of } = texts.value.stream
  const at = ids.indexOf(id)
  // It keeps the focus where there is no further one.
  const step = (label: string, sign: string, to: string | undefined) => (
    <button
      type="button"
      class="link"
      aria-label={label}
      title={label}
      aria-disabled={to === undefined}
      onClick={() => to !== undefined && onChoose(first, { id: to, newest: ids.at(-1) })}
    >
      {sign}
    </button>
  )
  return (
    <p class="variants">
      {step(previous_answer, '‹', ids[at - 1])}
      <span aria-hidden="true" dir="ltr">
        {at + 1}/{ids.length}
      </span>
      <span class="hidden">{answer_of(at + 1, ids.length)}</span>
      {step(next_answer, '›', ids[at + 1])}
    </p>
  )
}
